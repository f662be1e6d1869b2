// Each weight format, on each CPU level the machine has, must give the bits of the plain loops, for
// any number of rows, threads, groups and any layout.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "quant/mxfp4/format.h"
#include "quant/weight_format.h"
#include "support/checkpoint_files.h"
#include "tensor/float_bits.h"

namespace rapt {
namespace {

// Writes a one-file checkpoint and opens it.
class CheckpointWriter {
 public:
  void add(
      const std::string& name,
      const std::string& dtype,
      const std::vector<std::int64_t>& dims,
      const void* data,
      std::size_t num_bytes
  ) {
    tensors_.push_back({name, dtype, dims, std::string(static_cast<const char*>(data), num_bytes)});
  }

  WeightLoader open() {
    folder_.write("model.safetensors", testing::safetensors_bytes(tensors_));
    return WeightLoader(*CheckpointDir::open(folder_.path()));
  }

 private:
  testing::TempFolder folder_;
  std::vector<testing::WrittenTensor> tensors_;
};

struct Case {
  std::int64_t in_features;
  std::int64_t out_features;
  std::int64_t num_experts;  // 0: a plain matrix
};

constexpr Case kCases[] = {
    {32, 1, 0}, {64, 5, 0}, {96, 64, 0}, {288, 33, 0}, {96, 160, 4}, {160, 96, 5}, {544, 3, 2}};

std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = normal(generator);
  }
  return values;
}

std::vector<std::uint16_t> to_bf16(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) {
    bits.push_back(f32_to_bf16(value));
  }
  return bits;
}

// The groups of a test: experts in order with uneven numbers of rows, one of them empty.
std::vector<RowGroup> make_groups(std::int64_t num_matrices, std::int64_t num_rows) {
  std::vector<RowGroup> groups;
  std::int32_t first = 0;
  for (std::int64_t matrix = 0; matrix < num_matrices; ++matrix) {
    const bool last = matrix + 1 == num_matrices;
    const auto left = static_cast<std::int32_t>(num_rows - first);
    const std::int32_t count = last ? left : (matrix == 1 ? 0 : left / 3);
    groups.push_back({static_cast<std::int32_t>(matrix), first, count});
    first += count;
  }
  return groups;
}

std::vector<float> multiply(
    const LinearMethod& linear,
    CpuLevel level,
    int num_threads,
    std::vector<float>& x,
    const std::vector<std::int32_t>& input_rows,
    std::int64_t num_rows
) {
  ThreadPool pool(num_threads);
  const auto num_inputs = static_cast<std::int64_t>(x.size()) / linear.in_features();
  std::vector<float> y(static_cast<std::size_t>(num_rows * linear.out_features()), -1.0F);
  linear.multiply(
      Stream{&pool, level},
      PackedInput{Tensor(x.data(), DType::kF32, Shape{num_inputs, linear.in_features()})},
      input_rows,
      make_groups(linear.num_matrices(), num_rows),
      Tensor(y.data(), DType::kF32, Shape{num_rows, linear.out_features()})
  );
  return y;
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

// Runs `linear` in every way and compares bits; returns the reference result.
std::vector<float> expect_all_equal(const LinearMethod& linear) {
  std::vector<float> first_reference;
  for (const std::int64_t num_rows : {1, 2, 7, 70}) {
    const std::int64_t num_inputs = num_rows / 2 + 1;
    auto x = random_values(num_inputs * linear.in_features(), 11);
    std::vector<std::int32_t> input_rows;
    for (std::int64_t row = 0; row < num_rows; ++row) {
      input_rows.push_back(static_cast<std::int32_t>(row * 5 % num_inputs));
    }
    const auto expected = multiply(linear, CpuLevel::kReference, 1, x, input_rows, num_rows);
    for (const CpuLevel level : runnable_cpu_levels()) {
      for (const int num_threads : {1, 3}) {
        SCOPED_TRACE(std::string(name_of(level)));
        expect_same_bits(expected, multiply(linear, level, num_threads, x, input_rows, num_rows));
      }
    }
    if (first_reference.empty()) {
      first_reference = expected;
    }
  }
  return first_reference;
}

LinearSpec spec_of(const Case& c) {
  LinearSpec spec;
  spec.in_features = c.in_features;
  spec.out_features = c.out_features;
  if (c.num_experts > 0) {
    spec.num_experts = c.num_experts;
  }
  spec.dense = "w";
  spec.bias = "b";
  return spec;
}

std::vector<std::int64_t> dims_of(const Case& c, std::vector<std::int64_t> rest) {
  if (c.num_experts > 0) {
    rest.insert(rest.begin(), c.num_experts);
  }
  return rest;
}

TEST(Multiply, DenseGivesTheSameBitsInEveryTypeAndLayout) {
  for (const Case& c : kCases) {
    const std::int64_t num_matrices = std::max<std::int64_t>(c.num_experts, 1);
    const std::int64_t size = c.out_features * c.in_features;
    const auto bf16 = to_bf16(random_values(num_matrices * size, 3));
    std::vector<float> f32;
    std::vector<float> transposed(bf16.size());
    for (const std::uint16_t bits : bf16) {
      f32.push_back(bf16_to_f32(bits));
    }
    for (std::int64_t idx = 0; idx < num_matrices * size; ++idx) {
      const std::int64_t row = idx % size / c.in_features;
      const std::int64_t column = idx % c.in_features;
      transposed[static_cast<std::size_t>(idx / size * size + column * c.out_features + row)] =
          f32[static_cast<std::size_t>(idx)];
    }
    const auto transposed_bf16 = to_bf16(transposed);
    const auto bias = random_values(num_matrices * c.out_features, 4);

    std::vector<std::vector<float>> results;
    for (const int variant : {0, 1, 2, 3}) {
      CheckpointWriter writer;
      const bool is_transposed = variant >= 2;
      const bool is_bf16 = variant % 2 == 0;
      const auto dims = is_transposed ? dims_of(c, {c.in_features, c.out_features})
                                      : dims_of(c, {c.out_features, c.in_features});
      const auto& wide = is_transposed ? transposed : f32;
      const auto& narrow = is_transposed ? transposed_bf16 : bf16;
      if (is_bf16) {
        writer.add("w", "BF16", dims, narrow.data(), narrow.size() * 2);
      } else {
        writer.add("w", "F32", dims, wide.data(), wide.size() * 4);
      }
      writer.add("b", "F32", dims_of(c, {c.out_features}), bias.data(), bias.size() * 4);
      WeightLoader loader = writer.open();
      LinearSpec spec = spec_of(c);
      spec.dense_transposed = is_transposed;
      const auto linear = *load_linear(loader, spec);
      EXPECT_EQ(linear->format(), is_bf16 ? "bf16" : "f32");
      results.push_back(expect_all_equal(*linear));
    }
    for (const auto& result : results) {
      expect_same_bits(results[0], result);
    }
  }
}

TEST(Multiply, F16DecodesAsTheConversionSays) {
  CheckpointWriter writer;
  std::vector<std::uint16_t> weights;
  for (std::uint32_t idx = 0; idx < 19 * 40; ++idx) {
    weights.push_back(static_cast<std::uint16_t>(idx * 83 % 0x7C00U | (idx % 2 << 15)));
  }
  writer.add("w", "F16", {19, 40}, weights.data(), weights.size() * 2);
  WeightLoader loader = writer.open();
  LinearSpec spec;
  spec.in_features = 40;
  spec.out_features = 19;
  spec.dense = "w";
  const auto linear = *load_linear(loader, spec);
  EXPECT_EQ(linear->format(), "f16");
  expect_all_equal(*linear);
  std::vector<float> one_hot(40, 0.0F);
  one_hot[37] = 1.0F;
  const auto column = multiply(*linear, CpuLevel::kReference, 1, one_hot, {}, 1);
  for (std::size_t row = 0; row < 19; ++row) {
    EXPECT_EQ(column[row], f16_to_f32(weights[row * 40 + 37]));
  }
}

TEST(Multiply, PartOfAStoredMatrixIsThatPart) {
  CheckpointWriter writer;
  const auto values = to_bf16(random_values(12 * 32, 5));
  const auto bias = to_bf16(random_values(12, 6));
  writer.add("w", "BF16", {12, 32}, values.data(), values.size() * 2);
  writer.add("b", "BF16", {12}, bias.data(), bias.size() * 2);
  WeightLoader loader = writer.open();
  LinearSpec whole;
  whole.in_features = 32;
  whole.out_features = 12;
  whole.dense = "w";
  whole.bias = "b";
  LinearSpec part = whole;
  part.out_features = 5;
  part.first_row = 7;
  part.stored_rows = 12;
  auto x = random_values(32, 7);
  const auto all = multiply(**load_linear(loader, whole), CpuLevel::kReference, 1, x, {}, 1);
  for (const CpuLevel level : runnable_cpu_levels()) {
    const auto some = multiply(**load_linear(loader, part), level, 1, x, {}, 1);
    expect_same_bits(std::vector<float>(all.begin() + 7, all.end()), some);
  }
}

TEST(Multiply, Mxfp4EqualsItsDecodedValues) {
  for (const Case& c : kCases) {
    const std::int64_t num_matrices = std::max<std::int64_t>(c.num_experts, 1);
    const std::int64_t num_blocks = num_matrices * c.out_features * c.in_features / 32;
    std::mt19937 generator(8);
    std::vector<std::uint8_t> blocks(static_cast<std::size_t>(num_blocks * 16));
    std::vector<std::uint8_t> scales(static_cast<std::size_t>(num_blocks));
    for (auto& byte : blocks) {
      byte = static_cast<std::uint8_t>(generator());
    }
    for (auto& byte : scales) {
      byte = static_cast<std::uint8_t>(118 + generator() % 9);
    }
    scales[0] = 0;
    // The same values as a float matrix, decoded from the format's definition.
    constexpr float kCodes[16] = {0, .5F, 1, 1.5F, 2, 3, 4, 6, 0, -.5F, -1, -1.5F, -2, -3, -4, -6};
    std::vector<float> decoded;
    for (std::size_t block = 0; block < scales.size(); ++block) {
      for (std::size_t idx = 0; idx < 32; ++idx) {
        const std::uint8_t pair = blocks[block * 16 + idx / 2];
        const unsigned code = idx % 2 == 0 ? pair & 15U : pair >> 4U;
        decoded.push_back(kCodes[code] * std::ldexp(1.0F, scales[block] - 127));
      }
    }
    CheckpointWriter writer;
    writer.add(
        "w_blocks",
        "U8",
        {num_matrices, c.out_features, c.in_features / 32, 16},
        blocks.data(),
        blocks.size()
    );
    writer.add(
        "w_scales",
        "U8",
        {num_matrices, c.out_features, c.in_features / 32},
        scales.data(),
        scales.size()
    );
    writer.add(
        "d",
        "F32",
        {num_matrices, c.out_features, c.in_features},
        decoded.data(),
        decoded.size() * 4
    );
    WeightLoader loader = writer.open();
    LinearSpec spec = spec_of(c);
    spec.num_experts = num_matrices;
    spec.blocks = "w_blocks";
    spec.scales = "w_scales";
    spec.bias = "";
    const auto linear = *load_linear(loader, spec);
    EXPECT_EQ(linear->format(), "mxfp4");
    LinearSpec dense = spec;
    dense.blocks = "";
    dense.dense = "d";
    const auto result = expect_all_equal(*linear);
    expect_same_bits(result, expect_all_equal(**load_linear(loader, dense)));
  }
}

TEST(Multiply, MissingAndWrongWeightsAreNamed) {
  CheckpointWriter writer;
  const std::vector<float> values(32, 1.0F);
  writer.add("w_blocks", "F32", {1, 1, 1, 16}, values.data(), 64);
  WeightLoader loader = writer.open();
  LinearSpec spec;
  spec.in_features = 32;
  spec.out_features = 1;
  spec.num_experts = 1;
  spec.dense = "w";
  spec.blocks = "w_blocks";
  spec.scales = "w_scales";
  const auto wrong_type = load_linear(loader, spec);
  ASSERT_FALSE(wrong_type);
  EXPECT_NE(wrong_type.error().message.find("w_blocks"), std::string::npos);
  spec.blocks = "";
  const auto missing = load_linear(loader, spec);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("\"w\""), std::string::npos);
  spec.blocks = "w_blocks";
  spec.in_features = 48;
  EXPECT_NE(load_linear(loader, spec).error().message.find("blocks of 32"), std::string::npos);
}

TEST(Mxfp4, DecodesTheKnownBlock) {
  // Scale byte 125 and checkpoint bytes 0x10 ... 0x1f: each odd element is 0.5 * 2^-2.
  constexpr float kEven[16] = {
      0, .125F, .25F, .375F, .5F, .75F, 1, 1.5F, 0, -.125F, -.25F, -.375F, -.5F, -.75F, -1, -1.5F};
  for (unsigned byte = 0x10; byte <= 0x1f; ++byte) {
    EXPECT_EQ(
        static_cast<float>(kMxfp4DoubledCodes[byte & 15U]) * mxfp4_half_scale(125),
        kEven[byte - 0x10]
    );
    EXPECT_EQ(static_cast<float>(kMxfp4DoubledCodes[byte >> 4U]) * mxfp4_half_scale(125), 0.125F);
  }
  EXPECT_EQ(12.0F * mxfp4_half_scale(254), 6.0F * 0x1p127F);
  EXPECT_EQ(mxfp4_half_scale(0), 0x1p-128F);
  EXPECT_EQ(mxfp4_half_scale(1), 0x1p-127F);
  EXPECT_TRUE(std::isnan(mxfp4_half_scale(255)));
}

}  // namespace
}  // namespace rapt
