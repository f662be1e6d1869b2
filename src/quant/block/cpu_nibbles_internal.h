#pragma once

// How 16 rows of the blocks of block/nibbles_internal.h are read, in GGUF's layout and in prepared
// pieces: a format's cpu.cpp names NibbleFormat. Its bytes are integers without a sign.

#include "quant/block/cpu_bytes_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// Columns of nibbles as quads of bytes from 0 to 15.
[[gnu::always_inline]] static inline void split_nibbles(const IVec* columns, IVec* quads) {
  const IVec mask = splat_int(0x0F0F0F0F);
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    quads[idx] = and_int(columns[idx], mask);
    quads[idx + 4] = and_int(shift_right<4>(columns[idx]), mask);
  }
}

// Adds 16 to the bytes of quads whose bit is set: those of element 0 are the lowest.
[[gnu::always_inline]] static inline void add_fifth_bits(IVec bits, IVec* quads) {
  quads[0] = add_bit_4<0>(quads[0], bits);
  quads[1] = add_bit_4<4>(quads[1], bits);
  quads[2] = add_bit_4<8>(quads[2], bits);
  quads[3] = add_bit_4<12>(quads[3], bits);
  quads[4] = add_bit_4<16>(quads[4], bits);
  quads[5] = add_bit_4<20>(quads[5], bits);
  quads[6] = add_bit_4<24>(quads[6], bits);
  quads[7] = add_bit_4<28>(quads[7], bits);
}

template <bool kHasMin, bool kHasFifthBits>
struct NibbleRows {
  static constexpr int kGroup = 1;
  static constexpr int64_t kHeaderBytes = (kHasMin ? 4 : 2) + (kHasFifthBits ? 4 : 0);
  static constexpr int64_t kBlockBytes = kHeaderBytes + 16;

  static constexpr int64_t kFetchBytes = kBlockBytes * kLanes;

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t /*count*/, Vec* factors
  ) {
    IVec header[4];
    load_columns(half.scales + block * kBlockBytes, half.scales_stride, header);
    factors[0] = f16_to_float(header[0]);
    if constexpr (kHasMin) {
      factors[1] = f16_to_float(shift_right<16>(header[0]));
    }
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    const uint8_t* p = half.scales + block * kBlockBytes;
    IVec columns[4];
    load_columns(p + kHeaderBytes, half.scales_stride, columns);
    split_nibbles(columns, quads);
    if constexpr (kHasFifthBits) {
      IVec header[4];
      load_columns(p, half.scales_stride, header);
      add_fifth_bits(
          kHasMin ? header[1] : or_int(shift_right<16>(header[0]), shift_left<16>(header[1])), quads
      );
    }
  }
};

// Half a prepared piece: for each block four registers of nibbles as load_columns() gives them, and
// one of fifth bits; then for each block 16 times the scale and the min.
template <bool kHasMin, bool kHasFifthBits>
struct NibblePreparedRows {
  static constexpr int kGroup = 1;
  static constexpr int64_t kCodesBytes = kHasFifthBits ? 320 : 256;
  static constexpr int64_t kScalesBytes = kHasMin ? 64 : 32;

  static constexpr int64_t kFetchBytes = kCodesBytes + kScalesBytes;

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t /*count*/, Vec* factors
  ) {
    const uint8_t* p = half.scales + block * kScalesBytes;
    if constexpr (kHasMin) {
      const IVec words = load_int(p);
      factors[0] = f16_to_float(words);
      factors[1] = f16_to_float(shift_right<16>(words));
    } else {
      factors[0] = load_f16(reinterpret_cast<const uint16_t*>(p));
    }
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    const uint8_t* p = half.codes + block * kCodesBytes;
    IVec columns[4];
#pragma GCC unroll 4
    for (int idx = 0; idx < 4; ++idx) {
      columns[idx] = load_int(p + idx * 64);
    }
    split_nibbles(columns, quads);
    if constexpr (kHasFifthBits) {
      add_fifth_bits(load_int(p + 4 * 64), quads);
    }
  }
};

template <bool kHasMin, bool kHasFifthBits>
struct NibbleFormat {
  using Rows = NibbleRows<kHasMin, kHasFifthBits>;
  using PreparedRows = NibblePreparedRows<kHasMin, kHasFifthBits>;
  using Dots = ByteDots<ByteShape{
      .offset_shift = kHasMin         ? -1
                      : kHasFifthBits ? 4
                                      : 3,
      .has_min = kHasMin}>;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(
        piece, half, num_blocks, PreparedRows::kCodesBytes, PreparedRows::kScalesBytes
    );
  }
};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
