#pragma once

// The operations of ivec.h, which says what they do; only ivec.h includes this.

#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

struct IVec {
  uint32_t lane[kLanes];
};

template <typename Function>
static inline IVec each_int_lane(Function function) {
  IVec out;
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    out.lane[lane_idx] = static_cast<uint32_t>(function(lane_idx));
  }
  return out;
}

// function(a, b) of the two int16 of each lane.
template <typename Function>
static inline IVec each_int16(IVec a, IVec b, Function function) {
  return each_int_lane([&](int i) {
    uint32_t bits = 0;
    for (int shift = 0; shift < 32; shift += 16) {
      const auto x = static_cast<int16_t>(a.lane[i] >> shift);
      const auto y = static_cast<int16_t>(b.lane[i] >> shift);
      bits |= (static_cast<uint32_t>(function(x, y)) & 0xFFFFU) << shift;
    }
    return bits;
  });
}

static inline IVec load_int(const void* p) {
  IVec out;
  __builtin_memcpy(out.lane, p, sizeof(out.lane));
  return out;
}

static inline IVec load_bytes(const uint8_t* p) {
  return each_int_lane([&](int i) { return p[i]; });
}

static inline void store_int(void* p, IVec a) {
  __builtin_memcpy(p, a.lane, sizeof(a.lane));
}

static inline IVec splat_int(int32_t x) {
  return each_int_lane([&](int) { return x; });
}

static inline IVec add_int(IVec a, IVec b) {
  return each_int_lane([&](int i) { return a.lane[i] + b.lane[i]; });
}

static inline IVec and_int(IVec a, IVec b) {
  return each_int_lane([&](int i) { return a.lane[i] & b.lane[i]; });
}

static inline IVec or_int(IVec a, IVec b) {
  return each_int_lane([&](int i) { return a.lane[i] | b.lane[i]; });
}

static inline IVec xor_int(IVec a, IVec b) {
  return each_int_lane([&](int i) { return a.lane[i] ^ b.lane[i]; });
}

template <int kBits>
static inline IVec shift_left(IVec a) {
  return each_int_lane([&](int i) { return a.lane[i] << kBits; });
}

template <int kBits>
static inline IVec shift_right(IVec a) {
  return each_int_lane([&](int i) { return a.lane[i] >> kBits; });
}

static inline IVec shift_right_by(IVec a, int bits) {
  return each_int_lane([&](int i) { return a.lane[i] >> bits; });
}

static inline IVec max_unsigned(IVec a, IVec b) {
  return each_int_lane([&](int i) { return a.lane[i] < b.lane[i] ? b.lane[i] : a.lane[i]; });
}

template <int kBits>
static inline IVec shift_left_16(IVec a) {
  return each_int16(a, a, [](int x, int) { return x * (1 << kBits); });
}

template <int kBits>
static inline IVec shift_right_16(IVec a) {
  return each_int16(a, a, [](int x, int) { return x >> kBits; });
}

static inline IVec look_up(const uint8_t* table, IVec bytes) {
  return each_int_lane([&](int i) {
    uint32_t bits = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      bits |= static_cast<uint32_t>(table[(bytes.lane[i] >> shift) & 15U]) << shift;
    }
    return bits;
  });
}

template <int kFirst>
static inline IVec add_bit_4(IVec quads, IVec bits) {
  return each_int_lane([&](int i) {
    uint32_t sum = quads.lane[i];
    for (int byte = 0; byte < 4; ++byte) {
      sum += (bits.lane[i] >> (kFirst + byte) & 1U) << (8 * byte + 4);
    }
    return sum;
  });
}

static inline void store_bytes(uint8_t* p, IVec a) {
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    p[lane_idx] = static_cast<uint8_t>(a.lane[lane_idx]);
  }
}

// Adding and taking away 1.5 * 2^23 rounds to the nearest integer, ties to even.
static inline IVec round_to_int(Vec a) {
  return each_int_lane([&](int i) {
    return static_cast<int32_t>((a.lane[i] + 12582912.0F) - 12582912.0F);
  });
}

static inline void sums_of_lanes(IVec a, IVec b, int32_t* sums) {
  uint32_t of_a = 0;
  uint32_t of_b = 0;
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    of_a += a.lane[lane_idx];
    of_b += b.lane[lane_idx];
  }
  sums[0] = static_cast<int32_t>(of_a);
  sums[1] = static_cast<int32_t>(of_b);
}

static inline uint32_t max_of_lanes(IVec a) {
  uint32_t most = 0;
  for (const uint32_t lane : a.lane) {
    most = most < lane ? lane : most;
  }
  return most;
}

static inline Vec to_float(IVec a) {
  return each_lane([&](int i) { return static_cast<float>(static_cast<int32_t>(a.lane[i])); });
}

static inline IVec as_int(Vec bits) {
  return load_int(bits.lane);
}

static inline Vec as_float(IVec bits) {
  return each_lane([&](int i) { return float_of_bits(bits.lane[i]); });
}

static inline Vec f16_to_float(IVec a) {
  uint16_t halves[kLanes];
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    halves[lane_idx] = static_cast<uint16_t>(a.lane[lane_idx]);
  }
  return load_f16(halves);
}

static inline IVec add_pair_products(IVec sum, IVec a, IVec b) {
  return each_int_lane([&](int i) {
    int32_t total = static_cast<int32_t>(sum.lane[i]);
    for (int shift = 0; shift < 32; shift += 16) {
      total += static_cast<int16_t>(a.lane[i] >> shift) * static_cast<int16_t>(b.lane[i] >> shift);
    }
    return total;
  });
}

[[gnu::always_inline]] static inline void load_rows(const uint8_t* p, int64_t stride, IVec* rows) {
  for (int row = 0; row < kLanes; ++row) {
    __builtin_memcpy(&rows[row % 4].lane[row / 4 * 4], p + row * stride, 16);
  }
}

[[gnu::always_inline]] static inline void load_long_rows(
    const uint8_t* p, int64_t stride, IVec* rows
) {
  for (int row = 0; row < kLanes; ++row) {
    IVec& two = rows[row % 4 + row / 8 * 4];
    __builtin_memcpy(&two.lane[row / 4 % 2 * 8], p + row * stride, 32);
  }
}

static inline IVec splat_16(const uint8_t* p) {
  IVec a;
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    __builtin_memcpy(&a.lane[lane_idx], p + lane_idx % 4 * 4, 4);
  }
  return a;
}

static inline IVec splat_32(const uint8_t* p) {
  IVec a;
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    __builtin_memcpy(&a.lane[lane_idx], p + lane_idx % 8 * 4, 4);
  }
  return a;
}

static inline IVec add_across(const IVec* rows) {
  return each_int_lane([&](int row) {
    const uint32_t* lane = rows[row % 4].lane + row / 4 * 4;
    return lane[0] + lane[1] + lane[2] + lane[3];
  });
}

static inline IVec add_long_across(const IVec* rows) {
  return each_int_lane([&](int row) {
    const uint32_t* lane = rows[row % 4 + row / 8 * 4].lane + row / 4 % 2 * 8;
    uint32_t sum = 0;
    for (int idx = 0; idx < 8; ++idx) {
      sum += lane[idx];
    }
    return sum;
  });
}

[[gnu::always_inline]] static inline void load_columns(
    const uint8_t* p, int64_t stride, IVec* columns
) {
  for (int column = 0; column < 4; ++column) {
    for (int row = 0; row < kLanes; ++row) {
      __builtin_memcpy(&columns[column].lane[row], p + row * stride + 4 * column, 4);
    }
  }
}

[[gnu::always_inline]] static inline void load_spread(
    const uint8_t* p, int64_t stride, IVec* spread
) {
  for (int idx = 0; idx < 4; ++idx) {
    for (int row = 0; row < kLanes; ++row) {
      __builtin_memcpy(&spread[idx].lane[row], p + row * stride + 16 * idx, 4);
    }
  }
}

static inline void store_alternating(float* p, Vec even, Vec odd) {
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    p[2 * lane_idx] = even.lane[lane_idx];
    p[2 * lane_idx + 1] = odd.lane[lane_idx];
  }
}

static inline void widen_bytes(const uint8_t* low, const uint8_t* high, void* even, void* odd) {
  for (int idx = 0; idx < 32; ++idx) {
    int value = static_cast<int8_t>(low[idx]);
    if (high != nullptr) {
      value += 256 * static_cast<int8_t>(high[idx]);
    }
    const auto half = static_cast<int16_t>(value);
    void* to = idx % 2 == 0 ? even : odd;
    __builtin_memcpy(static_cast<char*>(to) + idx / 2 * 2, &half, sizeof(half));
  }
}

inline constexpr bool kHasByteDots = false;

static inline IVec begin_byte_sums(IVec /*sum*/) {
  return splat_int(0);
}

// Like the instructions: a sum of two products stops at the end of int16, later sums wrap around.
static inline IVec add_byte_products(IVec sums, IVec a, IVec b) {
  const IVec products = each_int16(a, b, [](int x, int y) {
    const int sum = (x & 255) * static_cast<int8_t>(y & 255) +
                    ((x >> 8) & 255) * static_cast<int8_t>((y >> 8) & 255);
    return sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum;
  });
  return each_int16(sums, products, [](int x, int y) { return x + y; });
}

static inline IVec end_byte_sums(IVec sum, IVec sums) {
  return add_pair_products(sum, sums, splat_int(0x10001));
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
