#pragma once

// How the blocks of 16 rows of MXFP4 are read, in each layout of format_internal.h and of
// README.md: see quant/block/cpu_fused_internal.h. Weights come out as quads of bytes, the doubled
// code plus 16.

#include "quant/block/cpu_fused_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// kMxfp4DoubledCodes of format_internal.h, which this file may not share, plus 16.
alignas(16) inline constexpr uint8_t kMxfp4Bytes[16] = {
    16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};

// mxfp4_half_scale() of format_internal.h for exponents that were moved to bits 23 to 30. What is
// below is subnormal, and so twice the value is taken first; infinity minus infinity is the NaN of
// byte 255.
[[gnu::always_inline]] static inline Vec mxfp4_scales(IVec exponents) {
  const Vec twice = as_float(max_unsigned(exponents, splat_int(0x00400000)));
  return fma(twice, splat(-0.5F), twice);
}

// The exponents in byte kByte of each lane, moved.
template <int kByte>
[[gnu::always_inline]] static inline IVec mxfp4_exponents(IVec lanes) {
  const IVec mask = splat_int(0x7F800000);
  if constexpr (kByte == 3) {
    return and_int(shift_right<1>(lanes), mask);
  } else {
    return and_int(shift_left<23 - 8 * kByte>(lanes), mask);
  }
}

// The same from bytes at p + lane * stride.
static inline Vec gather_mxfp4_scales(const uint8_t* p, int64_t stride) {
  uint8_t bytes[kLanes];
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    bytes[lane_idx] = p[lane_idx * stride];
  }
  return mxfp4_scales(shift_left<23>(load_bytes(bytes)));
}

// Columns of nibbles of which the low ones are elements 0 to 15, the high ones 16 to 31.
[[gnu::always_inline]] static inline void unpack_mxfp4_halves(const IVec* columns, IVec* quads) {
  const IVec mask = splat_int(0x0F0F0F0F);
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    quads[idx] = look_up(kMxfp4Bytes, and_int(columns[idx], mask));
    quads[idx + 4] = look_up(kMxfp4Bytes, and_int(shift_right<4>(columns[idx]), mask));
  }
}

// The layout of GGUF files.
struct Mxfp4GgufRows {
  static constexpr int64_t kBlockBytes = 17;
  static constexpr int64_t kScaleBytes = 17;

  static constexpr int kGroup = 4;

  static constexpr int64_t kFetchBytes = kBlockBytes * kLanes;

  // The scales of four blocks of a row are 17 bytes apart: the first is in byte 0 of the first 16
  // bytes, the second in byte 1 of the next 16, and so on.
  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t count, Vec* scales
  ) {
    const uint8_t* p = half.scales + block * kBlockBytes;
    if (count < kGroup) {
      for (int64_t idx = 0; idx < count; ++idx) {
        scales[idx] = gather_mxfp4_scales(p + idx * kBlockBytes, half.scales_stride);
      }
      return;
    }
    IVec spread[4];
    load_spread(p, half.scales_stride, spread);
    scales[0] = mxfp4_scales(mxfp4_exponents<0>(spread[0]));
    scales[1] = mxfp4_scales(mxfp4_exponents<1>(spread[1]));
    scales[2] = mxfp4_scales(mxfp4_exponents<2>(spread[2]));
    scales[3] = mxfp4_scales(mxfp4_exponents<3>(spread[3]));
  }

  static constexpr int kMostShort = 1;

  [[gnu::always_inline]] static inline void load_short_rows(
      const HalfRows& half, int64_t block, IVec* rows
  ) {
    IVec pairs[4];
    load_rows(half.codes + block * kBlockBytes, half.codes_stride, pairs);
    unpack_mxfp4_halves(pairs, rows);
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    IVec columns[4];
    load_columns(half.codes + block * kBlockBytes, half.codes_stride, columns);
    unpack_mxfp4_halves(columns, quads);
  }
};

// Low nibbles are even elements. The codes of a row's blocks are kCodesStride bytes apart, their
// scales kScalesStride.
template <int64_t kCodesStride, int64_t kScalesStride>
struct Mxfp4PairsRowsApart {
  static constexpr int64_t kBlockBytes = kCodesStride;
  static constexpr int64_t kScaleBytes = kScalesStride;

  // The four nibbles of each lane's two low bytes, as bytes in order.
  [[gnu::always_inline]] static inline IVec spread_nibbles(IVec two_bytes) {
    const IVec bytes = and_int(or_int(two_bytes, shift_left<8>(two_bytes)), splat_int(0x00FF00FF));
    return and_int(or_int(bytes, shift_left<4>(bytes)), splat_int(0x0F0F0F0F));
  }

  static constexpr int kGroup = 4;

  static constexpr int64_t kFetchBytes = kBlockBytes * kLanes;

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t count, Vec* scales
  ) {
    if constexpr (kScaleBytes == Mxfp4GgufRows::kScaleBytes) {
      Mxfp4GgufRows::load_scales(half, block, count, scales);
      return;
    }
    const uint8_t* p = half.scales + block;
    uint32_t lanes[kLanes] = {};
    if (count == kGroup) {
      for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
        __builtin_memcpy(&lanes[lane_idx], p + lane_idx * half.scales_stride, 4);
      }
    } else {
      for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
        const auto num_bytes = static_cast<uint64_t>(count);
        __builtin_memcpy(&lanes[lane_idx], p + lane_idx * half.scales_stride, num_bytes);
      }
    }
    const IVec bytes = load_int(lanes);
    scales[0] = mxfp4_scales(mxfp4_exponents<0>(bytes));
    scales[1] = mxfp4_scales(mxfp4_exponents<1>(bytes));
    scales[2] = mxfp4_scales(mxfp4_exponents<2>(bytes));
    scales[3] = mxfp4_scales(mxfp4_exponents<3>(bytes));
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    const IVec low_half = splat_int(0xFFFF);
    IVec columns[4];
    load_columns(half.codes + block * kBlockBytes, half.codes_stride, columns);
#pragma GCC unroll 4
    for (int idx = 0; idx < 4; ++idx) {
      const IVec low = spread_nibbles(and_int(columns[idx], low_half));
      const IVec high = spread_nibbles(shift_right<16>(columns[idx]));
      quads[2 * idx] = look_up(kMxfp4Bytes, low);
      quads[2 * idx + 1] = look_up(kMxfp4Bytes, high);
    }
  }
};

// The layout of gpt-oss checkpoints, whose scales lie in a tensor of their own.
using Mxfp4PairsRows = Mxfp4PairsRowsApart<16, 1>;
// The layout of Ollama's first files.
using Mxfp4OllamaRows = Mxfp4PairsRowsApart<17, 17>;

// Half a prepared piece: for each block four registers of nibbles as load_columns() gives them, in
// the order of GGUF files; then for each block the 16 scales.
struct Mxfp4PreparedRows {
  static constexpr int kGroup = 1;
  static constexpr int64_t kBlockBytes = 256;

  static constexpr int64_t kFetchBytes = kBlockBytes + kLanes;

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t /*count*/, Vec* scales
  ) {
    scales[0] = mxfp4_scales(shift_left<23>(load_bytes(half.scales + block * kLanes)));
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    IVec columns[4];
#pragma GCC unroll 4
    for (int idx = 0; idx < 4; ++idx) {
      columns[idx] = load_int(half.codes + block * kBlockBytes + idx * 64);
    }
    unpack_mxfp4_halves(columns, quads);
  }
};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
