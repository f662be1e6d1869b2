#pragma once

// Integer products of bytes: weights as unsigned bytes (the integer plus 2^kOffsetShift), packed
// inputs as they are. Part of cpu_fused_internal.h.
//
// With i16 the inputs are two bytes, and dot = 256 * (weights . high) + (weights . low). What the
// offset adds, 2^kOffsetShift * sum of q, is taken away beforehand.

#include "quant/block/cpu_fused_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

static inline int32_t load_int32(const uint8_t* p) {
  int32_t value;
  __builtin_memcpy(&value, p, sizeof(value));
  return value;
}

static inline Vec splat_scale(const uint8_t* packed) {
  float value;
  __builtin_memcpy(&value, packed, sizeof(value));
  return splat(value);
}

template <int kOffsetShift>
struct ByteDots {
  static constexpr int kQuads = kBlockQuads;
#if defined(__AVX512F__)
  static constexpr int kFewRows = 8;
  static constexpr int kHalves = 2;
  static constexpr int kRowsAtOnce = 6;
#else
  static constexpr int kFewRows = 4;
  static constexpr int kHalves = 1;
  static constexpr int kRowsAtOnce = 3;
#endif
  // Eight registers of weights, and their scales.
  static constexpr int64_t kVecBytes = 4 * kLanes;
  static constexpr int64_t kTileBlockBytes = (kQuads + 1) * kVecBytes;

  template <typename Rows>
  static inline void unpack(
      const HalfRows& weights, int64_t first_block, int64_t num_blocks, uint8_t* tile
  ) {
    const auto store_block = [&](int64_t block, const IVec* quads, Vec scale) {
      uint8_t* to = tile + block * kTileBlockBytes;
      for (int quad = 0; quad < kQuads; ++quad) {
        store_int(to + quad * kVecBytes, quads[quad]);
      }
      store_int(to + kQuads * kVecBytes, as_int(scale));
    };
    for_each_block<Rows>(weights, first_block, num_blocks, store_block);
  }

  // dot[half][row] += weights . the bytes at `plane` of each input.
  template <int kRows, int kNumHalves>
  [[gnu::always_inline]] static inline void add_products(
      const uint8_t* weights,
      int64_t tile_bytes,
      const uint8_t* const* inputs,
      int64_t offset,
      IVec (&dot)[kNumHalves][kRows]
  ) {
#pragma GCC unroll 2
    for (int first = 0; first < kQuads; first += 4) {
      IVec sums[kNumHalves][kRows];
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          sums[half][row] = begin_byte_sums(dot[half][row]);
        }
      }
#pragma GCC unroll 4
      for (int quad = first; quad < first + 4; ++quad) {
        IVec values[kNumHalves];
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
          values[half] = load_int(weights + half * tile_bytes + quad * kVecBytes);
        }
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          const IVec input = splat_int(load_int32(inputs[row] + offset + 4 * quad));
#pragma GCC unroll 2
          for (int half = 0; half < kNumHalves; ++half) {
            sums[half][row] = add_byte_products(sums[half][row], values[half], input);
          }
        }
      }
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          dot[half][row] = end_byte_sums(dot[half][row], sums[half][row]);
        }
      }
    }
  }

  // sums: [kRows][2][lane], from the half of the tile on.
  template <int kRows, int kNumHalves, bool kIsI16>
  static inline void multiply_tile(
      const uint8_t* tile,
      int64_t tile_bytes,
      int64_t num_blocks,
      const uint8_t* const* inputs,
      float* sums
  ) {
    constexpr int64_t kBlockBytes = kIsI16 ? kPackedI16Bytes : kPackedI8Bytes;
    Vec total[kNumHalves][kRows];
#pragma GCC unroll 2
    for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        total[half][row] = load(sums + (2 * row + half) * kLanes);
      }
    }
    for (int64_t block = 0; block < num_blocks; ++block) {
      const int64_t offset = block * kBlockBytes;
      const uint8_t* weights = tile + block * kTileBlockBytes;
      IVec dot[kNumHalves][kRows];
      if constexpr (kIsI16) {
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
          for (int row = 0; row < kRows; ++row) {
            dot[half][row] = splat_int(0);
          }
        }
        add_products(weights, tile_bytes, inputs, offset + kPackedHighOffset, dot);
      }
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const IVec start =
            shift_left<kOffsetShift>(splat_int(load_int32(inputs[row] + offset + kPackedSumOffset))
            );
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
          dot[half][row] = kIsI16 ? add_int(shift_left<8>(dot[half][row]), start) : start;
        }
      }
      add_products(weights, tile_bytes, inputs, offset + kPackedLowOffset, dot);
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const Vec input_scale = splat_scale(inputs[row] + offset);
#pragma GCC unroll 2
        for (int half = 0; half < kNumHalves; ++half) {
          const Vec scale = as_float(load_int(weights + half * tile_bytes + kQuads * kVecBytes));
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

  // dot + quads . the bytes at `input`.
  [[gnu::always_inline]] static inline IVec add_products(
      const IVec* quads, const uint8_t* input, IVec dot
  ) {
#pragma GCC unroll 2
    for (int first = 0; first < kQuads; first += 4) {
      IVec sums = begin_byte_sums(dot);
#pragma GCC unroll 4
      for (int quad = first; quad < first + 4; ++quad) {
        sums = add_byte_products(sums, quads[quad], splat_int(load_int32(input + 4 * quad)));
      }
      dot = end_byte_sums(dot, sums);
    }
    return dot;
  }

  // sums: [kRows][2][lane], from the half on.
  template <typename Rows, int kRows, bool kIsI16>
  static inline void multiply_few(
      const HalfRows& weights,
      int64_t first_block,
      int64_t num_blocks,
      const uint8_t* const* all_inputs,
      int64_t offset,
      float* sums
  ) {
    constexpr int64_t kBlockBytes = kIsI16 ? kPackedI16Bytes : kPackedI8Bytes;
    Vec total[kRows];
    const uint8_t* inputs[kRows];
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      total[row] = load(sums + 2 * row * kLanes);
      inputs[row] = all_inputs[row] + offset;
    }
    const auto multiply_block = [&](int64_t block, const IVec* quads, Vec scale) {
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const uint8_t* input = inputs[row] + block * kBlockBytes;
        IVec dot = shift_left<kOffsetShift>(splat_int(load_int32(input + kPackedSumOffset)));
        if constexpr (kIsI16) {
          const IVec high = add_products(quads, input + kPackedHighOffset, splat_int(0));
          dot = add_int(dot, shift_left<8>(high));
        }
        dot = add_products(quads, input + kPackedLowOffset, dot);
        total[row] = fma(to_float(dot), mul(scale, splat_scale(input)), total[row]);
      }
    };
    for_each_block<Rows>(weights, first_block, num_blocks, multiply_block);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      store(sums + 2 * row * kLanes, total[row]);
    }
  }
};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
