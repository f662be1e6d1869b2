#pragma once

// What block formats of GGUF files have in common, for their cpu.cpp: nibbles of which the low ones
// are elements 0 to 15 and the high ones 16 to 31, and scales as F16 at the front.

#include "quant/block/cpu_fused_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// Four bytes of each of 16 rows.
[[gnu::always_inline]] static inline IVec load_words(const uint8_t* p, int64_t stride) {
  uint32_t words[kLanes];
#pragma GCC unroll 16
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    __builtin_memcpy(&words[lane_idx], p + lane_idx * stride, sizeof(words[0]));
  }
  return load_int(words);
}

// Columns of nibbles as quads of bytes from 0 to 15.
[[gnu::always_inline]] static inline void split_nibbles(const IVec* columns, IVec* quads) {
  const IVec mask = splat_int(0x0F0F0F0F);
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    quads[idx] = and_int(columns[idx], mask);
    quads[idx + 4] = and_int(shift_right<4>(columns[idx]), mask);
  }
}

// Four registers as load_columns() gives them, from a prepared piece.
[[gnu::always_inline]] static inline void load_prepared_columns(const uint8_t* p, IVec* columns) {
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    columns[idx] = load_int(p + idx * 64);
  }
}

// Of words whose low half is a scale as F16 and whose high half a min.
[[gnu::always_inline]] static inline void split_scale_and_min(IVec words, Vec* factors) {
  factors[0] = f16_to_float(words);
  factors[1] = f16_to_float(shift_right<16>(words));
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
