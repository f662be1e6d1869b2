#include "quant/selftest.h"

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "quant/block/linear_internal.h"
#include "quant/dense/kernel_internal.h"
#include "quant/mxfp4/block_format_internal.h"
#include "quant/q8_0/block_format_internal.h"
#include "quant/q8_0/format.h"
#include "tensor/buffer.h"

namespace rapt {

namespace {

constexpr std::int64_t kInFeatures = 416;  // thirteen blocks: no power of two
constexpr std::int64_t kOutFeatures = 100;
constexpr std::int64_t kNumMatrices = 3;
constexpr std::int64_t kNumBlocks = kInFeatures / kPackedBlockSize;
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

// A stack of matrices in one block format, with random codes and scales of a common size.
struct BlockLayer {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;  // where they lie apart
  std::unique_ptr<BlockLinear> linear;
};

LinearSpec layer_spec() {
  LinearSpec spec;
  spec.in_features = kInFeatures;
  spec.out_features = kOutFeatures;
  spec.num_experts = kNumMatrices;
  return spec;
}

// `block_bytes` with the scale, if that lies within, in the first `codes_offset` of them.
BlockLayer make_layer(
    const BlockFormat& format, std::int64_t block_bytes, std::int64_t codes_offset
) {
  Numbers numbers(static_cast<std::uint64_t>(block_bytes));
  const std::int64_t num_blocks = kNumMatrices * kOutFeatures * kNumBlocks;
  BlockLayer layer;
  layer.codes.resize(static_cast<std::size_t>(num_blocks * block_bytes));
  for (std::uint8_t& byte : layer.codes) {
    byte = static_cast<std::uint8_t>(numbers.next());
  }
  const auto exponent = [&] { return static_cast<std::uint8_t>(118 + numbers.next() % 9); };
  for (std::int64_t block = 0; block < num_blocks; ++block) {
    std::uint8_t* begin = layer.codes.data() + block * block_bytes;
    if (codes_offset == 1) {
      *begin = exponent();
    } else if (codes_offset == kQ80CodesOffset) {
      const auto bits = static_cast<std::uint16_t>(numbers.next() % 0x3000U);
      std::memcpy(begin, &bits, sizeof(bits));
    } else {
      layer.scales.push_back(exponent());
    }
  }
  const std::int64_t row_bytes = kNumBlocks * block_bytes;
  BlockTensors tensors;
  tensors.codes[0] = {layer.codes.data() + codes_offset, row_bytes, kOutFeatures * row_bytes};
  tensors.scales[0] = {layer.codes.data(), row_bytes, kOutFeatures * row_bytes};
  if (codes_offset == 0) {
    tensors.scales[0] = {layer.scales.data(), kNumBlocks, kOutFeatures * kNumBlocks};
  }
  std::vector<float> bias(static_cast<std::size_t>(kNumMatrices * kOutFeatures));
  for (float& value : bias) {
    value = numbers.next_value();
  }
  layer.linear = std::make_unique<BlockLinear>(format, tensors, std::move(bias), layer_spec());
  return layer;
}

std::vector<float> random_rows() {
  Numbers numbers(3);
  std::vector<float> rows(static_cast<std::size_t>(kNumRows * kInFeatures));
  for (float& value : rows) {
    value = numbers.next_value();
  }
  return rows;
}

using Rows = std::vector<float>;

Rows multiply(
    const Stream& stream, const BlockLinear& linear, Rows& rows, LinearMode mode, bool is_swiglu
) {
  const Tensor x(rows.data(), DType::kF32, Shape{kNumRows, kInFeatures});
  Workspace size = Workspace::measuring();
  measure_packed_input(size, kNumRows, kInFeatures, mode);
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
  Rows rows = random_rows();
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
  const Rows x = random_rows();
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
  const std::array layers = {
      std::pair{std::string("mxfp4"), make_layer(mxfp4_pairs_format(), 16, 0)},
      std::pair{std::string("mxfp4 of GGUF"), make_layer(mxfp4_gguf_format(), 17, 1)},
      std::pair{std::string("q8_0"), make_layer(q8_0_block_format(), 34, kQ80CodesOffset)},
  };
  for (const auto& [name, layer] : layers) {
    for (const LinearMode mode : kLinearModes) {
      checks.push_back(check_layer(pool, level, name, *layer.linear, mode));
    }
  }
  checks.push_back(check_dense(level, DType::kBF16, "bf16"));
  checks.push_back(check_dense(level, DType::kF16, "f16"));
  checks.push_back(check_dense(level, DType::kF32, "f32"));
  return checks;
}

}  // namespace rapt
