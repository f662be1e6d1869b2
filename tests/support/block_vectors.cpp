#include "support/block_vectors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <vector>

#include "quant/row_table.h"
#include "quant/weight_format.h"
#include "support/checkpoint_files.h"
#include "support/gguf_files.h"

namespace rapt::testing {

namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t idx = 0; idx + 1 < hex.size(); idx += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(idx, 2), nullptr, 16)));
  }
  return bytes;
}

struct Vectors {
  std::int64_t num_rows = 0;  // one block each
  std::int64_t row_size = 0;
  std::string blocks;
  std::vector<float> values;
};

Vectors read_vectors(const std::string& type) {
  std::ifstream file(RAPT_SOURCE_DIR "/tests/cases/quant/" + type + ".txt");
  EXPECT_TRUE(file.is_open());
  Vectors vectors;
  std::string block;
  std::string values;
  while (file >> block >> values) {
    vectors.blocks += from_hex(block);
    const std::string bytes = from_hex(values);
    vectors.row_size = static_cast<std::int64_t>(bytes.size() / sizeof(float));
    const std::size_t first = vectors.values.size();
    vectors.values.resize(first + bytes.size() / sizeof(float));
    std::memcpy(vectors.values.data() + first, bytes.data(), bytes.size());
    ++vectors.num_rows;
  }
  EXPECT_GT(vectors.num_rows, 0);
  return vectors;
}

// A checkpoint of one tensor, "w".
class OneTensor {
 public:
  OneTensor(std::uint32_t gguf_id, std::int64_t rows, std::int64_t columns, std::string_view blocks)
      : path_(folder_.write(
            "model.gguf", GgufWriter().add_tensor("w", gguf_id, {rows, columns}, blocks).bytes()
        )) {}

  Result<CheckpointDir> open() const { return CheckpointDir::open(path_, known_block_types()); }

 private:
  TempFolder folder_;
  std::string path_;
};

std::vector<float> rows_of(WeightLoader& loader, std::int64_t num_rows, std::int64_t row_size) {
  const auto table = load_rows(loader, "w", num_rows, row_size);
  EXPECT_TRUE(table) << table.error().message;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(num_rows));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<float> values(static_cast<std::size_t>(num_rows * row_size));
  ThreadPool pool(2);
  const Tensor out(values.data(), DType::kF32, Shape{num_rows, row_size});
  table->gather(Stream{&pool, best_cpu_level()}, ids, out);
  return values;
}

// The matrix itself, transposed back, from its products with the rows of the identity.
std::vector<float> products_of(const LinearMethod& linear, CpuLevel level) {
  const std::int64_t size = linear.in_features();
  const std::int64_t num_rows = linear.out_features();
  std::vector<float> identity(static_cast<std::size_t>(size * size));
  for (std::int64_t idx = 0; idx < size; ++idx) {
    identity[static_cast<std::size_t>(idx * size + idx)] = 1.0F;
  }
  std::vector<float> products(static_cast<std::size_t>(size * num_rows));
  ThreadPool pool(1);
  const RowGroup group = {0, 0, static_cast<std::int32_t>(size)};
  linear.multiply(
      Stream{&pool, level},
      PackedInput{Tensor(identity.data(), DType::kF32, Shape{size, size})},
      {},
      {&group, 1},
      Tensor(products.data(), DType::kF32, Shape{size, num_rows})
  );
  std::vector<float> matrix(products.size());
  for (std::int64_t row = 0; row < num_rows; ++row) {
    for (std::int64_t idx = 0; idx < size; ++idx) {
      matrix[static_cast<std::size_t>(row * size + idx)] =
          products[static_cast<std::size_t>(idx * num_rows + row)];
    }
  }
  return matrix;
}

}  // namespace

void expect_reference_values(const std::string& type, std::uint32_t gguf_id) {
  const Vectors vectors = read_vectors(type);
  const OneTensor file(gguf_id, vectors.num_rows, vectors.row_size, vectors.blocks);
  auto checkpoint = file.open();
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  WeightLoader loader(*std::move(checkpoint));
  const auto values = rows_of(loader, vectors.num_rows, vectors.row_size);
  ASSERT_EQ(values.size(), vectors.values.size());
  for (std::size_t idx = 0; idx < values.size(); ++idx) {
    ASSERT_EQ(
        std::bit_cast<std::uint32_t>(values[idx]), std::bit_cast<std::uint32_t>(vectors.values[idx])
    ) << "element "
      << idx << " of " << type << ": " << values[idx] << " instead of " << vectors.values[idx];
  }
  LinearSpec spec;
  spec.in_features = vectors.row_size;
  spec.out_features = vectors.num_rows;
  spec.dense = "w";
  const auto linear = load_linear(loader, spec);
  ASSERT_TRUE(linear) << linear.error().message;
  EXPECT_EQ(products_of(**linear, CpuLevel::kReference), vectors.values);
  for (const CpuLevel level : runnable_cpu_levels()) {
    SCOPED_TRACE(std::string(name_of(level)));
    EXPECT_EQ(products_of(**linear, level), vectors.values);
  }
}

void expect_whole_blocks(
    const std::string& type,
    std::uint32_t gguf_id,
    std::int64_t num_elements,
    std::int64_t num_bytes
) {
  const std::string block(static_cast<std::size_t>(num_bytes), '\0');
  const auto halves = OneTensor(gguf_id, 2, num_elements / 2, block).open();
  ASSERT_FALSE(halves);
  for (const std::string& word : {std::string("\"w\""), type, std::to_string(num_elements)}) {
    EXPECT_NE(halves.error().message.find(word), std::string::npos) << halves.error().message;
  }
  const OneTensor file(gguf_id, 1, num_elements, block);
  WeightLoader loader(*file.open());
  LinearSpec spec;
  spec.in_features = num_elements / 2;
  spec.out_features = 2;
  spec.dense = "w";
  const auto linear = load_linear(loader, spec);
  ASSERT_FALSE(linear);
  const auto rows = load_rows(loader, "w", 2, num_elements / 2);
  ASSERT_FALSE(rows);
  for (const std::string& message : {linear.error().message, rows.error().message}) {
    EXPECT_NE(message.find("whole blocks of " + std::to_string(num_elements)), std::string::npos)
        << message;
  }
}

}  // namespace rapt::testing
