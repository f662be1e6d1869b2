#include "quant/block/cpu_bytes_internal.h"
#include "quant/block/cpu_pairs_internal.h"
#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

constexpr int64_t kBlockBytes = 34;

float f16_at(const uint8_t* p) {
  uint16_t bits[kLanes] = {};
  __builtin_memcpy(bits, p, sizeof(bits[0]));
  float values[kLanes];
  store(values, load_f16(bits));
  return values[0];
}

// With byte dots the weights are bytes plus 128, else they stay as they are, to be widened.
IVec to_dots(IVec quads) {
  return kHasByteDots ? xor_int(quads, splat_int(static_cast<int32_t>(0x80808080U))) : quads;
}

struct Q80Rows {
  template <typename Function>
  static inline void for_each_block(
      const HalfRows& rows, int64_t first_block, int64_t num_blocks, const Function& function
  ) {
    const uint8_t* p = rows.scales + first_block * kBlockBytes;
    const int64_t stride = rows.codes_stride;
    for (int64_t block = 0; block < num_blocks; block += 2) {
      const int64_t count = num_blocks - block < 2 ? 1 : 2;
      Vec scales[2];
      if (count == 2) {
        // The second scale is 34 bytes behind the first: bytes 2 and 3 of the third 16 bytes.
        IVec spread[4];
        load_spread(p, stride, spread);
        scales[0] = f16_to_float(spread[0]);
        scales[1] = f16_to_float(shift_right<16>(spread[2]));
      } else {
        uint16_t bits[kLanes];
        for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
          __builtin_memcpy(&bits[lane_idx], p + lane_idx * stride, sizeof(bits[0]));
        }
        scales[0] = load_f16(bits);
      }
      for (int64_t idx = 0; idx < count; ++idx) {
        IVec quads[8];
        load_columns(p + 2, stride, quads);
        load_columns(p + 18, stride, quads + 4);
#pragma GCC unroll 8
        for (int quad = 0; quad < 8; ++quad) {
          quads[quad] = to_dots(quads[quad]);
        }
        function(block + idx, quads, scales[idx]);
        p += kBlockBytes;
      }
    }
  }
};

// Half a prepared piece: for each block eight registers as load_columns() gives them; then for each
// block the 16 scales.
struct Q80PreparedRows {
  template <typename Function>
  static inline void for_each_block(
      const HalfRows& rows, int64_t first_block, int64_t num_blocks, const Function& function
  ) {
    const uint8_t* p = rows.codes + first_block * 512;
    const auto* scales = reinterpret_cast<const uint16_t*>(rows.scales) + first_block * kLanes;
    for (int64_t block = 0; block < num_blocks; ++block) {
      IVec quads[8];
#pragma GCC unroll 8
      for (int quad = 0; quad < 8; ++quad) {
        quads[quad] = to_dots(load_int(p + quad * 64));
      }
      function(block, quads, load_f16(scales));
      p += 512;
      scales += kLanes;
    }
  }
};

template <bool kBytes>
struct DotsOf {
  using Type = ByteDots<7>;
};

template <>
struct DotsOf<false> {
  using Type = PairDots;
};

struct Format {
  using Rows = Q80Rows;
  using PreparedRows = Q80PreparedRows;
  using Dots = DotsOf<kHasByteDots>::Type;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    const int64_t half_bytes = (num_blocks * (512 + 32) + 63) / 64 * 64;
    const uint8_t* codes = piece + half * half_bytes;
    return {codes, codes + num_blocks * 512, 0, 0};
  }

  static float unpack_block(
      const BlockMatrix& matrix, int64_t feature, int64_t block, int8_t* codes
  ) {
    __builtin_memcpy(codes, codes_of(matrix, feature) + block * kBlockBytes, kPackedBlockSize);
    return f16_at(scales_of(matrix, feature) + block * kBlockBytes);
  }
};

void multiply_plainly(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  if (rows.mode == LinearMode::kF32) {
    multiply_blocks_f32<Format>(matrix, bias, first_feature, end_feature, rows);
  } else {
    multiply_blocks_plainly<Format>(matrix, bias, first_feature, end_feature, rows);
  }
}

}  // namespace

extern const BlockKernels kQ80Kernels;
const BlockKernels kQ80Kernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
