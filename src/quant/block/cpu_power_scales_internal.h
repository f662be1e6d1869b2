#pragma once

// Tiles of a format whose scales are powers of two, multiplied with i8 inputs on machines with byte
// dots, where multiplications and byte dots wait for the same two units. Part of
// cpu_fused_internal.h.
//
// The sum of products starts not at 0 but at the bits of the float 1.5 * 2^23 * scale. Adding an
// integer n of less than 2^22 to those bits gives those of (1.5 * 2^23 + n) * scale, so that a
// float subtraction, which another unit does, makes n * scale of the sum: converted and scaled at
// once. The bits are those of ByteDots: n * scale and scale * input_scale are both exact as long as
// the scale is within kLeastScale and kGreatestScale, so fma(n * scale, input_scale, total) rounds
// the same number as fma(n, scale * input_scale, total).

#include "quant/block/cpu_bytes_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// An input's scale is 0, NaN, or between 2^-107 and 2^122 (packed_input.h), and its product with
// such a scale of weights neither loses bits at the lower end nor overflows at the upper.
inline constexpr int32_t kLeastScale = (127 - 19) << 23;    // the bits of 2^-19
inline constexpr int32_t kGreatestScale = (127 + 5) << 23;  // of 2^5
inline constexpr int32_t kBitsOfScaleToStart = (23 << 23) + (1 << 22);

template <ByteShape kShape>
struct PowerScaleDots : ByteDots<kShape> {
  using Base = ByteDots<kShape>;
  static_assert(kShape.num_scales == 1 && !kShape.has_min && kShape.offset_shift >= 0);

  // Whether all scales of a tile of `num_blocks` blocks are such that multiply_tile() may be used.
  static inline bool fits(const uint8_t* tile, int64_t num_blocks) {
    IVec most = splat_int(0);
    for (int64_t block = 0; block < num_blocks; ++block) {
      const uint8_t* scales = tile + block * Base::kTileBlockBytes + kBlockQuads * Base::kVecBytes;
      most = max_unsigned(most, add_int(load_int(scales), splat_int(-kLeastScale)));
    }
    return max_of_lanes(most) <= static_cast<uint32_t>(kGreatestScale - kLeastScale);
  }

  // As ByteDots::multiply_tile().
  template <int kRows, int kNumHalves, bool kIsI16>
  static inline void multiply_tile(
      const uint8_t* tile,
      int64_t tile_bytes,
      int64_t num_blocks,
      const uint8_t* const* inputs,
      float* sums,
      Ahead ahead
  ) {
    static_assert(!kIsI16);
    Vec total[kNumHalves][kRows];
#pragma GCC unroll 2
    for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        total[half][row] = load(sums + (2 * row + half) * kLanes);
      }
    }
    for (int64_t block = 0; block < num_blocks; ++block) {
      ahead.fetch_lines(block);
      const uint8_t* weights = tile + block * Base::kTileBlockBytes;
      const int64_t offset = block * kPackedI8Bytes;
      IVec start[kNumHalves];
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
        const IVec scale = load_int(weights + half * tile_bytes + kBlockQuads * Base::kVecBytes);
        start[half] = add_int(scale, splat_int(kBitsOfScaleToStart));
      }
      IVec dot[kNumHalves][kRows];
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const IVec minus_offset = Base::template minus_offset<0>(inputs[row] + offset);
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
          dot[half][row] = add_int(start[half], minus_offset);
        }
      }
      Base::template add_products<0>(weights, tile_bytes, inputs, offset + kPackedLowOffset, dot);
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const Vec input_scale = splat_float(inputs[row] + offset);
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
          const Vec scaled = sub(as_float(dot[half][row]), as_float(start[half]));
          total[half][row] = fma(scaled, input_scale, total[half][row]);
        }
      }
    }
#pragma GCC unroll 2
    for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        store(sums + (2 * row + half) * kLanes, total[half][row]);
      }
    }
  }
};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
