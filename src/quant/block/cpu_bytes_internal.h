#pragma once

// Integer products of bytes: weights as unsigned bytes (the integer, or that plus a power of two),
// packed inputs as they are. Part of cpu_fused_internal.h.
//
// With i16 the inputs are two bytes, and dot = 256 * (weights . high) + (weights . low). What the
// offset adds, 2^offset_shift * sum of q, is taken away beforehand.

#include "quant/block/cpu_across_internal.h"
#include "quant/block/cpu_fused_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// What the bytes of a format are.
struct ByteShape {
  int offset_shift = -1;  // a byte is an integer plus 2^offset_shift; -1: the integer itself
  int num_scales = 1;     // of a block; 2: one for each 16 inputs
  bool has_min = false;   // the block has something that is added to every weight
  // Registers whose products are added before they are widened where sums have 16 bits: 4 for bytes
  // up to 31, 2 for bytes up to 63.
  int quads_a_sum = 4;
};

template <ByteShape kShape>
struct ByteDots {
  static constexpr int kQuads = kBlockQuads;
  static constexpr int kFactors = kShape.num_scales + (kShape.has_min ? 1 : 0);
  static constexpr int kPartQuads = kQuads / kShape.num_scales;  // that share a scale
  static constexpr int kStep = kHasByteDots ? 4 : kShape.quads_a_sum;
#if defined(__AVX512F__)
  static constexpr int kFewRows = 8;
  static constexpr int kHalves = 2;
  static constexpr int kRowsAtOnce = 6;
#elif defined(__AVX2__)
  static constexpr int kFewRows = 4;
  static constexpr int kHalves = 1;
  static constexpr int kRowsAtOnce = 3;
#else
  // Of loops over arrays, which are slow to compile, only as many as try all paths.
  static constexpr int kFewRows = 2;
  static constexpr int kHalves = 1;
  static constexpr int kRowsAtOnce = 2;
#endif
  // Eight registers of weights, and their factors.
  static constexpr int64_t kVecBytes = 4 * kLanes;
  static constexpr int64_t kTileBlockBytes = (kQuads + kFactors) * kVecBytes;

  template <typename Rows>
  static inline void unpack(
      const HalfRows& weights, int64_t first_block, int64_t num_blocks, uint8_t* tile
  ) {
    const auto store_block = [&](int64_t block, const IVec* quads, const Vec* factors) {
      uint8_t* to = tile + block * kTileBlockBytes;
      for (int quad = 0; quad < kQuads; ++quad) {
        store_int(to + quad * kVecBytes, quads[quad]);
      }
      for (int idx = 0; idx < kFactors; ++idx) {
        store_int(to + (kQuads + idx) * kVecBytes, as_int(factors[idx]));
      }
    };
    for_each_block<Rows, kFactors, !knows_fetch_bytes<Rows>()>(
        weights, first_block, num_blocks, store_block
    );
  }

  // Minus what the offset adds to the dot product of part kPart of a block with this input.
  template <int kPart>
  [[gnu::always_inline]] static inline IVec minus_offset(const uint8_t* input) {
    if constexpr (kShape.offset_shift < 0) {
      return splat_int(0);
    } else {
      int32_t minus_sum = load_int32(input + kPackedSumOffset);
      if constexpr (kShape.num_scales == 2) {
        const int32_t first = load_int32(input + kPackedFirstSumOffset);
        minus_sum = kPart == 0 ? first : minus_sum - first;
      }
      return shift_left<kShape.offset_shift>(splat_int(minus_sum));
    }
  }

  // dot[half][row] += weights . inputs of part kPart, whose bytes begin at `offset` of each input.
  template <int kPart, int kRows, int kNumHalves>
  [[gnu::always_inline]] static inline void add_products(
      const uint8_t* weights,
      int64_t tile_bytes,
      const uint8_t* const* inputs,
      int64_t offset,
      IVec (&dot)[kNumHalves][kRows]
  ) {
#pragma GCC unroll 4
    for (int first = kPart * kPartQuads; first < (kPart + 1) * kPartQuads; first += kStep) {
      IVec sums[kNumHalves][kRows];
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          sums[half][row] = begin_byte_sums(dot[half][row]);
        }
      }
#pragma GCC unroll 4
      for (int quad = first; quad < first + kStep; ++quad) {
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

  // One part of a block of a tile, with all rows.
  template <int kPart, int kRows, int kNumHalves, bool kIsI16>
  [[gnu::always_inline]] static inline void add_tile_part(
      const uint8_t* weights,
      int64_t tile_bytes,
      const uint8_t* const* inputs,
      int64_t offset,
      Vec (&total)[kNumHalves][kRows]
  ) {
    IVec dot[kNumHalves][kRows];
    if constexpr (kIsI16) {
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          dot[half][row] = splat_int(0);
        }
      }
      add_products<kPart>(weights, tile_bytes, inputs, offset + kPackedHighOffset, dot);
    }
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const IVec start = minus_offset<kPart>(inputs[row] + offset);
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
        dot[half][row] = kIsI16 ? add_int(shift_left<8>(dot[half][row]), start) : start;
      }
    }
    add_products<kPart>(weights, tile_bytes, inputs, offset + kPackedLowOffset, dot);
    const uint8_t* factors = weights + kQuads * kVecBytes;
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const Vec input_scale = splat_float(inputs[row] + offset);
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
        const Vec scale = as_float(load_int(factors + half * tile_bytes + kPart * kVecBytes));
        total[half][row] = fma(to_float(dot[half][row]), mul(scale, input_scale), total[half][row]);
      }
    }
  }

  template <int kRows, int kNumHalves>
  [[gnu::always_inline]] static inline void add_tile_mins(
      const uint8_t* mins,
      int64_t tile_bytes,
      const uint8_t* const* inputs,
      int64_t offset,
      Vec (&total)[kNumHalves][kRows]
  ) {
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const Vec scaled_sum = splat_float(inputs[row] + offset + kPackedScaledSumOffset);
#pragma GCC unroll 2
      for (int half = 0; half < kNumHalves; ++half) {
        const Vec min = as_float(load_int(mins + half * tile_bytes));
        total[half][row] = fma(min, scaled_sum, total[half][row]);
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
      float* sums,
      Ahead ahead
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
      ahead.fetch_lines(block);
      const int64_t offset = block * kBlockBytes;
      const uint8_t* weights = tile + block * kTileBlockBytes;
      add_tile_part<0, kRows, kNumHalves, kIsI16>(weights, tile_bytes, inputs, offset, total);
      if constexpr (kShape.num_scales == 2) {
        add_tile_part<1, kRows, kNumHalves, kIsI16>(weights, tile_bytes, inputs, offset, total);
      }
      if constexpr (kShape.has_min) {
        const uint8_t* mins = weights + (kQuads + kShape.num_scales) * kVecBytes;
        add_tile_mins(mins, tile_bytes, inputs, offset, total);
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

  // dot + the quads of part kPart . their inputs, where those of a block begin at `input`. With
  // byte dots, kChains sums are taken side by side: one must wait for the last, and there is room
  // to wait for few.
  template <int kPart, int kChains>
  [[gnu::always_inline]] static inline IVec add_products(
      const IVec* quads, const uint8_t* input, IVec dot
  ) {
    constexpr int kFirst = kPart * kPartQuads;
    if constexpr (kHasByteDots && kChains == 2) {
      IVec other = splat_int(0);
#pragma GCC unroll 4
      for (int quad = kFirst; quad < kFirst + kPartQuads; quad += 2) {
        const IVec even = splat_int(load_int32(input + 4 * quad));
        const IVec odd = splat_int(load_int32(input + 4 * quad + 4));
        dot = add_byte_products(dot, quads[quad], even);
        other = add_byte_products(other, quads[quad + 1], odd);
      }
      return add_int(dot, other);
    }
#pragma GCC unroll 4
    for (int first = kFirst; first < kFirst + kPartQuads; first += kStep) {
      IVec sums = begin_byte_sums(dot);
#pragma GCC unroll 4
      for (int quad = first; quad < first + kStep; ++quad) {
        sums = add_byte_products(sums, quads[quad], splat_int(load_int32(input + 4 * quad)));
      }
      dot = end_byte_sums(dot, sums);
    }
    return dot;
  }

  // total + one part of a block times its scale.
  template <int kPart, bool kIsI16, int kChains>
  [[gnu::always_inline]] static inline Vec add_part(
      const IVec* quads, const Vec* factors, const uint8_t* input, Vec total
  ) {
    IVec dot = minus_offset<kPart>(input);
    if constexpr (kIsI16) {
      const IVec high =
          add_products<kPart, kChains>(quads, input + kPackedHighOffset, splat_int(0));
      dot = add_int(dot, shift_left<8>(high));
    }
    dot = add_products<kPart, kChains>(quads, input + kPackedLowOffset, dot);
    return fma(to_float(dot), mul(factors[kPart], splat_float(input)), total);
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
    constexpr bool kIsLong = kRows <= most_long_rows<Rows>();
    if constexpr (kIsLong || kRows <= most_short_rows<Rows>()) {
      static_assert(kShape.num_scales == 1 && !kShape.has_min && kShape.offset_shift >= 0);
      multiply_few_across<Rows, kShape.offset_shift, kRows, kIsI16, kIsLong>(
          weights, first_block, num_blocks, all_inputs, offset, sums
      );
      return;
    }
    constexpr int64_t kBlockBytes = kIsI16 ? kPackedI16Bytes : kPackedI8Bytes;
    constexpr int kChains = kIsI16 || kRows > 6 ? 2 : 1;
    Vec total[kRows];
    const uint8_t* inputs[kRows];
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      total[row] = load(sums + 2 * row * kLanes);
      inputs[row] = all_inputs[row] + offset;
    }
    const auto multiply_block = [&](int64_t block, const IVec* quads, const Vec* factors) {
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const uint8_t* input = inputs[row] + block * kBlockBytes;
        total[row] = add_part<0, kIsI16, kChains>(quads, factors, input, total[row]);
        if constexpr (kShape.num_scales == 2) {
          total[row] = add_part<1, kIsI16, kChains>(quads, factors, input, total[row]);
        }
        if constexpr (kShape.has_min) {
          const Vec scaled_sum = splat_float(input + kPackedScaledSumOffset);
          total[row] = fma(factors[kShape.num_scales], scaled_sum, total[row]);
        }
      }
    };
    for_each_block<Rows, kFactors>(weights, first_block, num_blocks, multiply_block);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      store(sums + 2 * row * kLanes, total[row]);
    }
  }
};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
