#pragma once

// The header of Q4_K and Q5_K super-blocks: two F16 and eight pairs of 6-bit integers; see
// super_internal.h.

#include "quant/block/cpu_super_rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// Puts the scales and the mins of all parts into a tile, from the header's four columns.
[[gnu::always_inline]] static inline void unpack_super_mins(const IVec* columns, uint8_t* tile) {
  const IVec low_nibbles = splat_int(0x0F0F0F0F);
  const IVec high_bits = splat_int(0x30303030);
  const IVec six_bits = splat_int(0x3F3F3F3F);
  const Vec scale = f16_to_float(columns[0]);
  const Vec minus_min = mul(f16_to_float(shift_right<16>(columns[0])), splat(-1.0F));
  const auto store_four = [&](int64_t part, int64_t idx, IVec bytes, Vec factor) {
    store_factor(tile, part, idx, mul(factor, byte_to_float<0>(bytes)));
    store_factor(tile, part + 1, idx, mul(factor, byte_to_float<1>(bytes)));
    store_factor(tile, part + 2, idx, mul(factor, byte_to_float<2>(bytes)));
    store_factor(tile, part + 3, idx, mul(factor, byte_to_float<3>(bytes)));
  };
  const auto high_four = [&](IVec low_bits, IVec bits) {
    return or_int(and_int(low_bits, low_nibbles), and_int(shift_right<2>(bits), high_bits));
  };
  store_four(0, 0, and_int(columns[1], six_bits), scale);
  store_four(0, 1, and_int(columns[2], six_bits), minus_min);
  store_four(4, 0, high_four(columns[3], columns[1]), scale);
  store_four(4, 1, high_four(shift_right<4>(columns[3]), columns[2]), minus_min);
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
