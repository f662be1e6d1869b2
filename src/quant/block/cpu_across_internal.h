#pragma once

// Products of bytes for few inputs and weights that are left in rows: turning 16 rows into columns
// costs more shuffles than adding up each row's products, as long as that is done for one or two
// inputs. For formats with one scale a block and no min. Part of cpu_bytes_internal.h.

#include "quant/block/cpu_fused_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

static inline int32_t load_int32(const uint8_t* p) {
  int32_t value;
  __builtin_memcpy(&value, p, sizeof(value));
  return value;
}

static inline Vec splat_float(const uint8_t* packed) {
  float value;
  __builtin_memcpy(&value, packed, sizeof(value));
  return splat(value);
}

// Rows that can also be read as rows, which saves turning them into columns, name the most input
// rows for which that pays: kMostShort with load_short_rows(half, block, rows), which gives 16
// inputs of four rows in a register, the first 16 in four registers and the others in the next;
// kMostLong with load_long_rows(half, block, rows), 32 inputs of two rows in a register.
template <typename Rows>
constexpr int most_short_rows() {
  if constexpr (requires { Rows::kMostShort; }) {
    return Rows::kMostShort;
  }
  return 0;
}

template <typename Rows>
constexpr int most_long_rows() {
  if constexpr (requires { Rows::kMostLong; }) {
    return Rows::kMostLong;
  }
  return 0;
}

// `Rows` for for_each_block(), where quads are rows.
template <typename Rows, bool kIsLong>
struct InRows : Rows {
  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* rows
  ) {
    if constexpr (kIsLong) {
      Rows::load_long_rows(half, block, rows);
    } else {
      Rows::load_short_rows(half, block, rows);
    }
  }
};

// The dot products of eight registers of weights that hold rows, short or long (load_rows() and
// load_long_rows() of ivec.h), with the bytes at `input`, on top of 256 * dot.
template <bool kIsLong>
[[gnu::always_inline]] static inline void add_row_products(
    const IVec* weights, const uint8_t* input, IVec* dot
) {
  if constexpr (kIsLong) {
    const IVec all = splat_32(input);
#pragma GCC unroll 8
    for (int idx = 0; idx < 8; ++idx) {
      const IVec sums = add_byte_products(begin_byte_sums(dot[idx]), weights[idx], all);
      dot[idx] = end_byte_sums(dot[idx], sums);
    }
  } else {
    const IVec first = splat_16(input);
    const IVec second = splat_16(input + 16);
#pragma GCC unroll 4
    for (int idx = 0; idx < 4; ++idx) {
      IVec sums = add_byte_products(begin_byte_sums(dot[idx]), weights[idx], first);
      sums = add_byte_products(sums, weights[idx + 4], second);
      dot[idx] = end_byte_sums(dot[idx], sums);
    }
  }
}

// sums: [kRows][2][lane], from the half on.
template <typename Rows, int kOffsetShift, int kRows, bool kIsI16, bool kIsLong>
static inline void multiply_few_across(
    const HalfRows& weights,
    int64_t first_block,
    int64_t num_blocks,
    const uint8_t* const* all_inputs,
    int64_t offset,
    float* sums
) {
  constexpr int64_t kBlockBytes = kIsI16 ? kPackedI16Bytes : kPackedI8Bytes;
  constexpr int kDots = kIsLong ? 8 : 4;
  Vec total[kRows];
  const uint8_t* inputs[kRows];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    total[row] = load(sums + 2 * row * kLanes);
    inputs[row] = all_inputs[row] + offset;
  }
  const auto multiply_block = [&](int64_t block, const IVec* rows, const Vec* scale) {
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const uint8_t* input = inputs[row] + block * kBlockBytes;
      IVec dots[kDots];
#pragma GCC unroll 8
      for (int idx = 0; idx < kDots; ++idx) {
        dots[idx] = splat_int(0);
      }
      if constexpr (kIsI16) {
        add_row_products<kIsLong>(rows, input + kPackedHighOffset, dots);
#pragma GCC unroll 8
        for (int idx = 0; idx < kDots; ++idx) {
          dots[idx] = shift_left<8>(dots[idx]);
        }
      }
      add_row_products<kIsLong>(rows, input + kPackedLowOffset, dots);
      IVec dot = shift_left<kOffsetShift>(splat_int(load_int32(input + kPackedSumOffset)));
      if constexpr (kIsLong) {
        dot = add_int(dot, add_long_across(dots));
      } else {
        dot = add_int(dot, add_across(dots));
      }
      total[row] = fma(to_float(dot), mul(*scale, splat_float(input)), total[row]);
    }
  };
  for_each_block<InRows<Rows, kIsLong>, 1>(weights, first_block, num_blocks, multiply_block);
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    store(sums + 2 * row * kLanes, total[row]);
  }
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
