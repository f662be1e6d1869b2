#pragma once

// The operations of ivec.h, which says what they do; only ivec.h includes this.

#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

struct IVec {
  __m256i lo;
  __m256i hi;
};

static inline IVec load_int(const void* p) {
  const auto* halves = static_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
}

static inline IVec load_bytes(const uint8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}

static inline void store_int(void* p, IVec a) {
  auto* halves = static_cast<__m256i*>(p);
  _mm256_storeu_si256(halves, a.lo);
  _mm256_storeu_si256(halves + 1, a.hi);
}

static inline IVec splat_int(int32_t x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}

static inline IVec add_int(IVec a, IVec b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}

static inline IVec and_int(IVec a, IVec b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}

static inline IVec or_int(IVec a, IVec b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}

static inline IVec xor_int(IVec a, IVec b) {
  return {_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)};
}

template <int kBits>
static inline IVec shift_left(IVec a) {
  return {_mm256_slli_epi32(a.lo, kBits), _mm256_slli_epi32(a.hi, kBits)};
}

template <int kBits>
static inline IVec shift_right(IVec a) {
  return {_mm256_srli_epi32(a.lo, kBits), _mm256_srli_epi32(a.hi, kBits)};
}

static inline IVec shift_right_by(IVec a, int bits) {
  const __m128i count = _mm_cvtsi32_si128(bits);
  return {_mm256_srl_epi32(a.lo, count), _mm256_srl_epi32(a.hi, count)};
}

static inline IVec max_unsigned(IVec a, IVec b) {
  return {_mm256_max_epu32(a.lo, b.lo), _mm256_max_epu32(a.hi, b.hi)};
}

template <int kBits>
static inline IVec shift_left_16(IVec a) {
  return {_mm256_slli_epi16(a.lo, kBits), _mm256_slli_epi16(a.hi, kBits)};
}

template <int kBits>
static inline IVec shift_right_16(IVec a) {
  return {_mm256_srai_epi16(a.lo, kBits), _mm256_srai_epi16(a.hi, kBits)};
}

static inline IVec look_up(const uint8_t* table, IVec bytes) {
  const __m256i entries =
      _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return {_mm256_shuffle_epi8(entries, bytes.lo), _mm256_shuffle_epi8(entries, bytes.hi)};
}

// Byte n of each lane four times, for n from 0 to 3.
static inline __m256i repeat_byte(__m256i lanes, int n) {
  const __m256i places = _mm256_setr_epi8(
      0,
      0,
      0,
      0,
      4,
      4,
      4,
      4,
      8,
      8,
      8,
      8,
      12,
      12,
      12,
      12,
      0,
      0,
      0,
      0,
      4,
      4,
      4,
      4,
      8,
      8,
      8,
      8,
      12,
      12,
      12,
      12
  );
  return _mm256_shuffle_epi8(
      lanes, _mm256_add_epi8(places, _mm256_set1_epi8(static_cast<char>(n)))
  );
}

template <int kFirst>
static inline __m256i add_bit_4_half(__m256i quads, __m256i bits) {
  const __m256i wanted = _mm256_set1_epi32(0x08040201 << kFirst % 8);
  const __m256i there = _mm256_and_si256(repeat_byte(bits, kFirst / 8), wanted);
  const __m256i is_set = _mm256_cmpeq_epi8(there, wanted);
  return _mm256_or_si256(quads, _mm256_and_si256(is_set, _mm256_set1_epi8(16)));
}

template <int kFirst>
static inline IVec add_bit_4(IVec quads, IVec bits) {
  return {add_bit_4_half<kFirst>(quads.lo, bits.lo), add_bit_4_half<kFirst>(quads.hi, bits.hi)};
}

static inline void store_bytes(uint8_t* p, IVec a) {
  const __m256i low_byte = _mm256_set1_epi32(255);
  const __m256i words =
      _mm256_packus_epi32(_mm256_and_si256(a.lo, low_byte), _mm256_and_si256(a.hi, low_byte));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xD8);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(p),
      _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1))
  );
}

static inline IVec round_to_int(Vec a) {
  return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)};
}

static inline void sums_of_lanes(IVec a, IVec b, int32_t* sums) {
  const __m256i of_a = _mm256_add_epi32(a.lo, a.hi);
  const __m256i of_b = _mm256_add_epi32(b.lo, b.hi);
  // In turn of a and of b.
  const __m256i eight =
      _mm256_add_epi32(_mm256_unpacklo_epi32(of_a, of_b), _mm256_unpackhi_epi32(of_a, of_b));
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(sums), two);
}

static inline uint32_t max_of_lanes(IVec a) {
  const __m256i eight = _mm256_max_epu32(a.lo, a.hi);
  __m128i most = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0x4E));
  most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0xB1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(most));
}

static inline Vec to_float(IVec a) {
  return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
}

static inline IVec as_int(Vec bits) {
  return {_mm256_castps_si256(bits.lo), _mm256_castps_si256(bits.hi)};
}

static inline Vec as_float(IVec bits) {
  return {_mm256_castsi256_ps(bits.lo), _mm256_castsi256_ps(bits.hi)};
}

static inline Vec f16_to_float(IVec a) {
  const __m256i mask = _mm256_set1_epi32(0xFFFF);
  const __m256i halves =
      _mm256_packus_epi32(_mm256_and_si256(a.lo, mask), _mm256_and_si256(a.hi, mask));
  const __m256i ordered = _mm256_permute4x64_epi64(halves, 0xD8);
  return {
      _mm256_cvtph_ps(_mm256_castsi256_si128(ordered)),
      _mm256_cvtph_ps(_mm256_extracti128_si256(ordered, 1))};
}

static inline IVec add_pair_products(IVec sum, IVec a, IVec b) {
  return {
      _mm256_add_epi32(sum.lo, _mm256_madd_epi16(a.lo, b.lo)),
      _mm256_add_epi32(sum.hi, _mm256_madd_epi16(a.hi, b.hi))};
}

// Two rows of 16 bytes, 4 * stride apart.
[[gnu::always_inline]] static inline __m256i load_two_rows(const uint8_t* p, int64_t stride) {
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 4 * stride));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

[[gnu::always_inline]] static inline void load_rows(const uint8_t* p, int64_t stride, IVec* rows) {
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    const uint8_t* row = p + idx * stride;
    rows[idx] = {load_two_rows(row, stride), load_two_rows(row + 8 * stride, stride)};
  }
}

[[gnu::always_inline]] static inline IVec splat_16(const uint8_t* p) {
  const __m256i bytes =
      _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return {bytes, bytes};
}

[[gnu::always_inline]] static inline __m256i add_across_half(
    __m256i a, __m256i b, __m256i c, __m256i d
) {
  const __m256i ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
  const __m256i cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
  return _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

[[gnu::always_inline]] static inline IVec add_across(const IVec* rows) {
  return {
      add_across_half(rows[0].lo, rows[1].lo, rows[2].lo, rows[3].lo),
      add_across_half(rows[0].hi, rows[1].hi, rows[2].hi, rows[3].hi)};
}

[[gnu::always_inline]] static inline void load_long_rows(
    const uint8_t* p, int64_t stride, IVec* rows
) {
  const auto row = [&](int idx) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + idx * stride));
  };
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    rows[idx] = {row(idx), row(idx + 4)};
    rows[idx + 4] = {row(idx + 8), row(idx + 12)};
  }
}

[[gnu::always_inline]] static inline IVec splat_32(const uint8_t* p) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {bytes, bytes};
}

[[gnu::always_inline]] static inline __m256i add_halves(__m256i a, __m256i b) {
  return _mm256_add_epi32(
      _mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31)
  );
}

[[gnu::always_inline]] static inline IVec add_long_across(const IVec* rows) {
  IVec sums[4];
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    sums[idx] = {
        add_halves(rows[idx].lo, rows[idx].hi), add_halves(rows[idx + 4].lo, rows[idx + 4].hi)};
  }
  return add_across(sums);
}

[[gnu::always_inline]] static inline void load_eight_rows(
    const uint8_t* p, int64_t stride, __m256i* columns
) {
  const __m256i a = load_two_rows(p, stride);
  const __m256i b = load_two_rows(p + stride, stride);
  const __m256i c = load_two_rows(p + 2 * stride, stride);
  const __m256i d = load_two_rows(p + 3 * stride, stride);
  const __m256i ab_low = _mm256_unpacklo_epi32(a, b);
  const __m256i ab_high = _mm256_unpackhi_epi32(a, b);
  const __m256i cd_low = _mm256_unpacklo_epi32(c, d);
  const __m256i cd_high = _mm256_unpackhi_epi32(c, d);
  columns[0] = _mm256_unpacklo_epi64(ab_low, cd_low);
  columns[1] = _mm256_unpackhi_epi64(ab_low, cd_low);
  columns[2] = _mm256_unpacklo_epi64(ab_high, cd_high);
  columns[3] = _mm256_unpackhi_epi64(ab_high, cd_high);
}

[[gnu::always_inline]] static inline void load_columns(
    const uint8_t* p, int64_t stride, IVec* columns
) {
  __m256i lo[4];
  __m256i hi[4];
  load_eight_rows(p, stride, lo);
  load_eight_rows(p + 8 * stride, stride, hi);
  columns[0] = {lo[0], hi[0]};
  columns[1] = {lo[1], hi[1]};
  columns[2] = {lo[2], hi[2]};
  columns[3] = {lo[3], hi[3]};
}

[[gnu::always_inline]] static inline __m256i load_four_heads(const uint8_t* p, int64_t stride) {
  const auto row = [&](int64_t idx) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + idx * stride));
  };
  return _mm256_unpacklo_epi64(
      _mm256_unpacklo_epi32(row(0), row(1)), _mm256_unpacklo_epi32(row(2), row(3))
  );
}

// The first and second lanes of load_spread.
[[gnu::always_inline]] static inline void load_spread_half(
    const uint8_t* p, int64_t stride, IVec* spread
) {
  const __m256i a = load_four_heads(p, stride);
  const __m256i b = load_four_heads(p + 4 * stride, stride);
  const __m256i c = load_four_heads(p + 8 * stride, stride);
  const __m256i d = load_four_heads(p + 12 * stride, stride);
  spread[0] = {_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(c, d, 0x20)};
  spread[1] = {_mm256_permute2x128_si256(a, b, 0x31), _mm256_permute2x128_si256(c, d, 0x31)};
}

[[gnu::always_inline]] static inline void load_spread(
    const uint8_t* p, int64_t stride, IVec* spread
) {
  load_spread_half(p, stride, spread);
  load_spread_half(p + 32, stride, spread + 2);
}

static inline void store_alternating_half(float* p, __m256 even, __m256 odd) {
  const __m256 low = _mm256_unpacklo_ps(even, odd);
  const __m256 high = _mm256_unpackhi_ps(even, odd);
  _mm256_storeu_ps(p, _mm256_permute2f128_ps(low, high, 0x20));
  _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
}

static inline void store_alternating(float* p, Vec even, Vec odd) {
  store_alternating_half(p, even.lo, odd.lo);
  store_alternating_half(p + kLanes, even.hi, odd.hi);
}

static inline void widen_bytes(const uint8_t* low, const uint8_t* high, void* even, void* odd) {
  const __m256i low_bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low));
  __m256i evens = _mm256_srai_epi16(_mm256_slli_epi16(low_bytes, 8), 8);
  __m256i odds = _mm256_srai_epi16(low_bytes, 8);
  if (high != nullptr) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high));
    const __m256i upper = _mm256_set1_epi16(static_cast<int16_t>(0xFF00));
    evens = _mm256_add_epi16(evens, _mm256_slli_epi16(bytes, 8));
    odds = _mm256_add_epi16(odds, _mm256_and_si256(bytes, upper));
  }
  _mm256_storeu_si256(static_cast<__m256i*>(even), evens);
  _mm256_storeu_si256(static_cast<__m256i*>(odd), odds);
}

inline constexpr bool kHasByteDots = false;

static inline IVec begin_byte_sums(IVec /*sum*/) {
  return {_mm256_setzero_si256(), _mm256_setzero_si256()};
}

static inline IVec add_byte_products(IVec sums, IVec a, IVec b) {
  return {
      _mm256_add_epi16(sums.lo, _mm256_maddubs_epi16(a.lo, b.lo)),
      _mm256_add_epi16(sums.hi, _mm256_maddubs_epi16(a.hi, b.hi))};
}

static inline IVec end_byte_sums(IVec sum, IVec sums) {
  return add_pair_products(sum, sums, {_mm256_set1_epi16(1), _mm256_set1_epi16(1)});
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
