#include "quant/packed_input.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "quant/packed_kernel_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const PackRow kPackRow;
}

namespace cpu::avx2 {
extern const PackRow kPackRow;
}

namespace cpu::avx512 {
extern const PackRow kPackRow;
}

namespace {

// The definition of a packed block; see packed_input.h.
void pack_block(const float* x, std::int64_t count, LinearMode mode, std::uint8_t* to) {
  const float limit = mode == LinearMode::kI16 ? 21845.0F : 127.0F;
  std::memset(to, 0, static_cast<std::size_t>(packed_block_bytes(mode)));
  // As integers, magnitudes are in the order of their values, NaN above infinity.
  std::uint32_t max_bits = 0;
  for (std::int64_t idx = 0; idx < count; ++idx) {
    max_bits = std::max(max_bits, std::bit_cast<std::uint32_t>(x[idx]) & 0x7FFFFFFFU);
  }
  const auto max = std::bit_cast<float>(max_bits);
  if (max < 0x1p-100F) {
    return;
  }
  if (!(max <= std::numeric_limits<float>::max())) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(to, &nan, sizeof(nan));
    std::memcpy(to + kPackedScaledSumOffset, &nan, sizeof(nan));
    return;
  }
  const float factor = limit / max;
  const float scale = max / limit;
  std::int32_t minus_sum = 0;
  std::int32_t minus_first = 0;
  for (std::int64_t idx = 0; idx < count; ++idx) {
    // Adding and taking away 1.5 * 2^23 rounds to the nearest integer, ties to even.
    const auto q = static_cast<std::int32_t>((x[idx] * factor + 12582912.0F) - 12582912.0F);
    minus_sum -= q;
    if (idx < kPackedBlockSize / 2) {
      minus_first -= q;
    }
    const std::int32_t high = mode == LinearMode::kI16 ? (q + 128) >> 8 : 0;
    to[kPackedLowOffset + idx] = static_cast<std::uint8_t>(q - 256 * high);
    if (mode == LinearMode::kI16) {
      to[kPackedHighOffset + idx] = static_cast<std::uint8_t>(high);
    }
  }
  const float scaled_sum = scale * static_cast<float>(-minus_sum);
  std::memcpy(to, &scale, sizeof(scale));
  std::memcpy(to + kPackedSumOffset, &minus_sum, sizeof(minus_sum));
  std::memcpy(to + kPackedScaledSumOffset, &scaled_sum, sizeof(scaled_sum));
  std::memcpy(to + kPackedFirstSumOffset, &minus_first, sizeof(minus_first));
}

void reference_pack_row(const float* x, std::int64_t size, LinearMode mode, std::uint8_t* to) {
  for (std::int64_t first = 0; first < size; first += kPackedBlockSize) {
    pack_block(x + first, std::min(size - first, kPackedBlockSize), mode, to);
    to += packed_block_bytes(mode);
  }
}

std::uint8_t* take_blocks(
    Workspace& workspace, std::int64_t num_rows, std::int64_t in_features, LinearMode mode
) {
  if (mode == LinearMode::kF32) {
    return nullptr;
  }
  return workspace.take<std::uint8_t>(num_rows * packed_row_bytes(in_features, mode));
}

}  // namespace

PackedInput pack_input(const Stream& stream, Workspace& workspace, Tensor x, LinearMode mode) {
  const std::int64_t num_rows = x.size(0);
  const std::int64_t in_features = x.size(1);
  std::uint8_t* blocks = take_blocks(workspace, num_rows, in_features, mode);
  if (blocks != nullptr) {
    const std::int64_t row_bytes = packed_row_bytes(in_features, mode);
    const PackRow pack_row =
        KernelBuilds<PackRow>{
            .reference = reference_pack_row,
            .scalar = cpu::scalar::kPackRow,
            .avx2 = cpu::avx2::kPackRow,
            .avx512 = cpu::avx512::kPackRow,
        }
            .at(stream.level);
    stream.pool->parallel_for(num_rows, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        pack_row(x.f32() + row * in_features, in_features, mode, blocks + row * row_bytes);
      }
    });
  }
  return PackedInput{x, mode, blocks};
}

void measure_packed_input(
    Workspace& workspace, std::int64_t num_rows, std::int64_t in_features, LinearMode mode
) {
  take_blocks(workspace, num_rows, in_features, mode);
}

}  // namespace rapt
