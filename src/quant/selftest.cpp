#include "quant/selftest.h"

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "quant/block/random_layer_internal.h"
#include "quant/dense/kernel_internal.h"
#include "quant/registry_internal.h"
#include "tensor/buffer.h"

namespace rapt {

namespace {

constexpr std::int64_t kInFeatures = 416;  // thirteen blocks: no power of two
constexpr std::int64_t kOutFeatures = 100;
constexpr std::int64_t kNumMatrices = 3;
// One row of each path that kernels have: alone, a few, a tile and some.
constexpr std::array<std::int32_t, kNumMatrices> kRowsOfMatrix = {1, 5, 37};
constexpr std::int64_t kNumRows = 43;

// Numbers without a pattern, the same ones each time.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  std::uint32_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

  // About normal, within -6 and 6.
  float next_value() {
    float sum = -6.0F;
    for (int idx = 0; idx < 12; ++idx) {
      sum += static_cast<float>(next() & 0xFFFFU) / 65536.0F;
    }
    return sum;
  }

 private:
  std::uint64_t state_;
};

std::vector<float> random_rows(std::int64_t in_features) {
  Numbers numbers(3);
  std::vector<float> rows(static_cast<std::size_t>(kNumRows * in_features));
  for (float& value : rows) {
    value = numbers.next_value();
  }
  return rows;
}

using Rows = std::vector<float>;

Rows multiply(
    const Stream& stream, const BlockLinear& linear, Rows& rows, LinearMode mode, bool is_swiglu
) {
  const Tensor x(rows.data(), DType::kF32, Shape{kNumRows, linear.in_features()});
  Workspace size = Workspace::measuring();
  measure_packed_input(size, kNumRows, linear.in_features(), mode);
  Result<Buffer> memory = Buffer::allocate(size.peak_bytes() + 64, "a check of the kernels");
  CHECK(memory.has_value(), "no memory for some rows");
  Workspace workspace(*std::move(memory));
  const PackedInput input = pack_input(stream, workspace, x, mode);
  std::array<RowGroup, kNumMatrices> groups;
  std::int32_t first = 0;
  for (std::size_t idx = 0; idx < groups.size(); ++idx) {
    groups[idx] = {static_cast<std::int32_t>(idx), first, kRowsOfMatrix[idx]};
    first += kRowsOfMatrix[idx];
  }
  const std::int64_t out_size = is_swiglu ? kOutFeatures / 2 : kOutFeatures;
  Rows out(static_cast<std::size_t>(kNumRows * out_size));
  const Tensor y(out.data(), DType::kF32, Shape{kNumRows, out_size});
  if (is_swiglu) {
    linear.multiply_swiglu(stream, input, {}, groups, ClampedSwiglu{}, y);
  } else {
    linear.multiply(stream, input, {}, groups, y);
  }
  return out;
}

void count(LinearCheck& check, const Rows& expected, const Rows& actual, std::string name) {
  ++check.num_cases;
  if (std::memcmp(expected.data(), actual.data(), expected.size() * sizeof(float)) == 0) {
    ++check.num_passed;
  } else {
    check.worst_case = std::move(name);
  }
}

LinearCheck check_layer(
    ThreadPool& pool, CpuLevel level, const std::string& name, BlockLinear& linear, LinearMode mode
) {
  LinearCheck check{.kernel = name + ", " + std::string(name_of(mode))};
  const auto piece_bytes = static_cast<std::uint64_t>(linear.prepared_piece_bytes());
  const std::int64_t num_pieces = linear.num_prepared_pieces();
  Result<Buffer> pieces =
      Buffer::allocate(piece_bytes * static_cast<std::uint64_t>(num_pieces), "prepared weights");
  CHECK(pieces.has_value(), "no memory for some weights");
  auto* prepared = static_cast<std::byte*>(pieces->data());
  for (std::int64_t piece = 0; piece < num_pieces; ++piece) {
    linear.write_prepared(piece, prepared + static_cast<std::uint64_t>(piece) * piece_bytes);
  }
  Rows rows = random_rows(linear.in_features());
  for (const bool is_swiglu : {false, true}) {
    const Rows expected =
        multiply(Stream{&pool, CpuLevel::kReference}, linear, rows, mode, is_swiglu);
    for (const bool is_prepared : {false, true}) {
      if (is_prepared && num_pieces == 0) {
        continue;
      }
      linear.use_prepared(is_prepared ? prepared : nullptr);
      const Rows actual = multiply(Stream{&pool, level}, linear, rows, mode, is_swiglu);
      count(
          check,
          expected,
          actual,
          std::string(is_swiglu ? "with SwiGLU" : "plain") + (is_prepared ? ", prepared" : "")
      );
    }
    linear.use_prepared(nullptr);
  }
  return check;
}

// Float matrices: one mode only.
LinearCheck check_dense(CpuLevel level, DType dtype, std::string name) {
  Numbers numbers(5);
  std::vector<std::uint16_t> halves(static_cast<std::size_t>(kOutFeatures * kInFeatures));
  std::vector<float> floats(halves.size());
  for (std::size_t idx = 0; idx < halves.size(); ++idx) {
    // Any sign and mantissa, exponents around that of 1 in all three types.
    halves[idx] = static_cast<std::uint16_t>((numbers.next() & 0x83FFU) | 0x3800U);
    floats[idx] = static_cast<float>(static_cast<int>(numbers.next() % 2001) - 1000) / 700.0F;
  }
  const void* data = dtype == DType::kF32 ? static_cast<const void*>(floats.data())
                                          : static_cast<const void*>(halves.data());
  DenseMatrix matrix;
  matrix.rows[0] = data;
  matrix.rows[1] = static_cast<const char*>(data) + kInFeatures * size_of(dtype);
  matrix.row_stride = 2 * kInFeatures;
  matrix.dtype = dtype;
  matrix.in_features = kInFeatures;
  const Rows x = random_rows(kInFeatures);
  const auto run = [&](CpuLevel at, std::int64_t num_rows) {
    Rows y(static_cast<std::size_t>(num_rows * kOutFeatures));
    MultiplyRows rows;
    rows.x = x.data();
    rows.x_stride = kInFeatures;
    rows.num_rows = num_rows;
    rows.y = y.data();
    rows.y_stride = kOutFeatures;
    dense_multiply(at)(matrix, nullptr, 0, kOutFeatures, rows);
    return y;
  };
  LinearCheck check{.kernel = std::move(name)};
  for (const std::int64_t num_rows : {std::int64_t{1}, std::int64_t{5}, kNumRows}) {
    const Rows expected = run(CpuLevel::kReference, num_rows);
    count(check, expected, run(level, num_rows), std::to_string(num_rows) + " rows");
  }
  return check;
}

}  // namespace

std::vector<LinearCheck> selftest_linears(ThreadPool& pool, CpuLevel level) {
  std::vector<LinearCheck> checks;
  for (const WeightFormat& family : weight_formats()) {
    for (const BlockFormat& format : family.blocks) {
      const std::int64_t block = format.type.elements;
      const Result<RandomLayer> layer = make_random_layer(
          format,
          {.num_matrices = kNumMatrices,
           .out_features = kOutFeatures,
           .in_features = (kInFeatures + block - 1) / block * block,
           .has_bias = true}
      );
      CHECK(layer.has_value(), "no memory for some weights");
      for (const LinearMode mode : kLinearModes) {
        const std::string name(format.layout_name);
        checks.push_back(check_layer(pool, level, name, *layer->linear, mode));
      }
    }
  }
  checks.push_back(check_dense(level, DType::kBF16, "bf16"));
  checks.push_back(check_dense(level, DType::kF16, "f16"));
  checks.push_back(check_dense(level, DType::kF32, "f32"));
  return checks;
}

}  // namespace rapt
