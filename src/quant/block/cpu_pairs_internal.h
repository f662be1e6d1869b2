#pragma once

// Integer products of int16, for weights of eight bits on machines without byte dots. Weights and
// inputs are widened: the even bytes of a quad become one pair, the odd ones another. Part of
// cpu_fused_internal.h.

#include "quant/block/cpu_fused_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

struct PairDots {
  static constexpr int kQuads = kBlockQuads;  // each is two pairs
  static constexpr int kFactors = 1;
#if defined(__AVX512F__)
  static constexpr int kFewRows = 4;
  static constexpr int kHalves = 2;
  static constexpr int kRowsAtOnce = 6;
#elif defined(__AVX2__)
  static constexpr int kFewRows = 4;
  static constexpr int kHalves = 1;
  static constexpr int kRowsAtOnce = 4;
#else
  static constexpr int kFewRows = 2;
  static constexpr int kHalves = 1;
  static constexpr int kRowsAtOnce = 2;
#endif
  // Sixteen registers of weights, the even pairs first, and their scales.
  static constexpr int64_t kVecBytes = 4 * kLanes;
  static constexpr int64_t kTileBlockBytes = (2 * kQuads + 1) * kVecBytes;

  // A widened block of one input: its scale, 8 even pairs, 8 odd pairs.
  static constexpr int64_t kWideBytes = 68;
  static constexpr int64_t kWideEvens = 4;
  static constexpr int64_t kWideOdds = 36;

  static inline int32_t load_int32(const uint8_t* p) {
    int32_t value;
    __builtin_memcpy(&value, p, sizeof(value));
    return value;
  }

  template <bool kIsI16>
  [[gnu::always_inline]] static inline void widen(
      const uint8_t* input, int64_t num_blocks, uint8_t* to
  ) {
    for (int64_t block = 0; block < num_blocks; ++block) {
      __builtin_memcpy(to, input, sizeof(float));
      widen_bytes(
          input + kPackedLowOffset,
          kIsI16 ? input + kPackedHighOffset : nullptr,
          to + kWideEvens,
          to + kWideOdds
      );
      input += kIsI16 ? kPackedI16Bytes : kPackedI8Bytes;
      to += kWideBytes;
    }
  }

  static inline IVec even_pairs(IVec quads) {
    return shift_right_16<8>(shift_left_16<8>(quads));
  }

  static inline IVec odd_pairs(IVec quads) {
    return shift_right_16<8>(quads);
  }

  template <typename Rows>
  static inline void unpack(
      const HalfRows& weights, int64_t first_block, int64_t num_blocks, uint8_t* tile
  ) {
    const auto store_block = [&](int64_t block, const IVec* quads, const Vec* factors) {
      uint8_t* to = tile + block * kTileBlockBytes;
      for (int quad = 0; quad < kQuads; ++quad) {
        store_int(to + quad * kVecBytes, even_pairs(quads[quad]));
        store_int(to + (kQuads + quad) * kVecBytes, odd_pairs(quads[quad]));
      }
      store_int(to + 2 * kQuads * kVecBytes, as_int(factors[0]));
    };
    for_each_block<Rows, kFactors, !knows_fetch_bytes<Rows>()>(
        weights, first_block, num_blocks, store_block
    );
  }

  // sums: [kRows][2][lane], from the half of the tile on.
  template <int kRows, int kNumHalves, bool kIsI16>
  static inline void multiply_tile(
      const uint8_t* tile,
      int64_t tile_bytes,
      int64_t num_blocks,
      const uint8_t* const* inputs,
      float* sums,
      Ahead ahead
  ) {
    alignas(64) uint8_t wide[kRows * kTileBlocks * kWideBytes];
    for (int row = 0; row < kRows; ++row) {
      widen<kIsI16>(inputs[row], num_blocks, wide + row * kTileBlocks * kWideBytes);
    }
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
      const uint8_t* input = wide + block * kWideBytes;
      const uint8_t* weights = tile + block * kTileBlockBytes;
      IVec dot[kNumHalves][kRows];
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          dot[half][row] = splat_int(0);
        }
      }
#pragma GCC unroll 16
      for (int pair = 0; pair < 2 * kQuads; ++pair) {
        IVec values[kNumHalves];
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
          values[half] = load_int(weights + half * tile_bytes + pair * kVecBytes);
        }
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          const IVec x =
              splat_int(load_int32(input + row * kTileBlocks * kWideBytes + kWideEvens + 4 * pair));
#pragma GCC unroll 2
          for (int half = 0; half < kNumHalves; ++half) {
            dot[half][row] = add_pair_products(dot[half][row], values[half], x);
          }
        }
      }
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const Vec input_scale =
            as_float(splat_int(load_int32(input + row * kTileBlocks * kWideBytes)));
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
          const Vec scale =
              as_float(load_int(weights + half * tile_bytes + 2 * kQuads * kVecBytes));
          total[half][row] =
              fma(to_float(dot[half][row]), mul(scale, input_scale), total[half][row]);
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

  // sums: [kRows][2][lane], from the half on.
  template <typename Rows, int kRows, bool kIsI16>
  static inline void multiply_few(
      const HalfRows& weights,
      int64_t first_block,
      int64_t num_blocks,
      const uint8_t* const* inputs,
      int64_t offset,
      float* sums
  ) {
    alignas(64) uint8_t wide[kRows * kTileBlocks * kWideBytes];
    Vec total[kRows];
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      widen<kIsI16>(inputs[row] + offset, num_blocks, wide + row * kTileBlocks * kWideBytes);
      total[row] = load(sums + 2 * row * kLanes);
    }
    const auto multiply_block = [&](int64_t block, const IVec* quads, const Vec* factors) {
      const uint8_t* input = wide + block * kWideBytes;
      IVec dot[kRows];
#pragma GCC unroll 4
      for (int row = 0; row < kRows; ++row) {
        dot[row] = splat_int(0);
      }
#pragma GCC unroll 8
      for (int quad = 0; quad < kQuads; ++quad) {
        const IVec evens = even_pairs(quads[quad]);
        const IVec odds = odd_pairs(quads[quad]);
#pragma GCC unroll 4
        for (int row = 0; row < kRows; ++row) {
          const uint8_t* x = input + row * kTileBlocks * kWideBytes + 4 * quad;
          dot[row] = add_pair_products(dot[row], evens, splat_int(load_int32(x + kWideEvens)));
          dot[row] = add_pair_products(dot[row], odds, splat_int(load_int32(x + kWideOdds)));
        }
      }
#pragma GCC unroll 4
      for (int row = 0; row < kRows; ++row) {
        const Vec input_scale =
            as_float(splat_int(load_int32(input + row * kTileBlocks * kWideBytes)));
        total[row] = fma(to_float(dot[row]), mul(factors[0], input_scale), total[row]);
      }
    };
    for_each_block<Rows, kFactors>(weights, first_block, num_blocks, multiply_block);
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      store(sums + 2 * row * kLanes, total[row]);
    }
  }
};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
