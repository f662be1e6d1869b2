#pragma once

// The header of Q4_K and Q5_K super-blocks: two F16 and eight pairs of 6-bit integers; see
// super_internal.h.

#include "quant/block/cpu_super_rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// The scale and the min of each part, from the header's columns.
[[gnu::always_inline]] static inline void load_super_mins(const uint8_t* header, Vec* factors) {
  const IVec low_nibbles = splat_int(0x0F0F0F0F);
  const IVec high_bits = splat_int(0x30303030);
  const IVec six_bits = splat_int(0x3F3F3F3F);
  const IVec columns[4] = {
      load_column(header, 0, 0),
      load_column(header, 0, 1),
      load_column(header, 0, 2),
      load_column(header, 0, 3)};
  const Vec scale = f16_to_float(columns[0]);
  const Vec minus_min = mul(f16_to_float(shift_right<16>(columns[0])), splat(-1.0F));
  const auto put_four = [&](Vec* to, IVec bytes, Vec factor) {
    to[0] = mul(factor, byte_to_float<0>(bytes));
    to[2] = mul(factor, byte_to_float<1>(bytes));
    to[4] = mul(factor, byte_to_float<2>(bytes));
    to[6] = mul(factor, byte_to_float<3>(bytes));
  };
  const auto high_four = [&](IVec low_bits, IVec bits) {
    return or_int(and_int(low_bits, low_nibbles), and_int(shift_right<2>(bits), high_bits));
  };
  put_four(factors, and_int(columns[1], six_bits), scale);
  put_four(factors + 1, and_int(columns[2], six_bits), minus_min);
  put_four(factors + 8, high_four(columns[3], columns[1]), scale);
  put_four(factors + 9, high_four(shift_right<4>(columns[3]), columns[2]), minus_min);
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
