#pragma once

// The operations of ivec.h, which says what they do; only ivec.h includes this.

#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

struct IVec {
  __m512i v;
};

static inline IVec load_int(const void* p) {
  return {_mm512_loadu_si512(p)};
}

static inline IVec load_bytes(const uint8_t* p) {
  return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}

static inline void store_int(void* p, IVec a) {
  _mm512_storeu_si512(p, a.v);
}

static inline IVec splat_int(int32_t x) {
  return {_mm512_set1_epi32(x)};
}

static inline IVec add_int(IVec a, IVec b) {
  return {_mm512_add_epi32(a.v, b.v)};
}

static inline IVec and_int(IVec a, IVec b) {
  return {_mm512_and_si512(a.v, b.v)};
}

static inline IVec or_int(IVec a, IVec b) {
  return {_mm512_or_si512(a.v, b.v)};
}

static inline IVec xor_int(IVec a, IVec b) {
  return {_mm512_xor_si512(a.v, b.v)};
}

template <int kBits>
static inline IVec shift_left(IVec a) {
  return {_mm512_slli_epi32(a.v, kBits)};
}

template <int kBits>
static inline IVec shift_right(IVec a) {
  return {_mm512_srli_epi32(a.v, kBits)};
}

static inline IVec shift_right_by(IVec a, int bits) {
  return {_mm512_srl_epi32(a.v, _mm_cvtsi32_si128(bits))};
}

// The greater of each lane, as unsigned integers.
static inline IVec max_unsigned(IVec a, IVec b) {
  return {_mm512_max_epu32(a.v, b.v)};
}

// int16: kBits to the left or, keeping the sign, to the right.
template <int kBits>
static inline IVec shift_left_16(IVec a) {
  return {_mm512_slli_epi16(a.v, kBits)};
}

template <int kBits>
static inline IVec shift_right_16(IVec a) {
  return {_mm512_srai_epi16(a.v, kBits)};
}

// Each byte b, which is below 16, becomes table[b].
static inline IVec look_up(const uint8_t* table, IVec bytes) {
  const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(entries), bytes.v)};
}

template <int kFirst>
static inline IVec add_bit_4(IVec quads, IVec bits) {
  // Byte kFirst / 8 of each lane four times.
  const __m512i places =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m512i byte = _mm512_shuffle_epi8(
      bits.v, _mm512_add_epi8(places, _mm512_set1_epi8(static_cast<char>(kFirst / 8)))
  );
  const __mmask64 is_set = _mm512_test_epi8_mask(byte, _mm512_set1_epi32(0x08040201 << kFirst % 8));
  return {_mm512_mask_add_epi8(quads.v, is_set, quads.v, _mm512_set1_epi8(16))};
}

static inline void store_bytes(uint8_t* p, IVec a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}

static inline IVec round_to_int(Vec a) {
  return {_mm512_cvtps_epi32(a.v)};
}

static inline void sums_of_lanes(IVec a, IVec b, int32_t* sums) {
  // In turn of a and of b.
  const __m512i sixteen =
      _mm512_add_epi32(_mm512_unpacklo_epi32(a.v, b.v), _mm512_unpackhi_epi32(a.v, b.v));
  const __m256i eight =
      _mm256_add_epi32(_mm512_castsi512_si256(sixteen), _mm512_extracti64x4_epi64(sixteen, 1));
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(sums), two);
}

static inline uint32_t max_of_lanes(IVec a) {
  return _mm512_reduce_max_epu32(a.v);
}

static inline Vec to_float(IVec a) {
  return {_mm512_cvtepi32_ps(a.v)};
}

static inline IVec as_int(Vec bits) {
  return {_mm512_castps_si512(bits.v)};
}

static inline Vec as_float(IVec bits) {
  return {_mm512_castsi512_ps(bits.v)};
}

// The low halves of the lanes as F16.
static inline Vec f16_to_float(IVec a) {
  return {_mm512_cvtph_ps(_mm512_cvtepi32_epi16(a.v))};
}

// sum + the dot product of two pairs.
static inline IVec add_pair_products(IVec sum, IVec a, IVec b) {
#if defined(__AVX512VNNI__)
  return {_mm512_dpwssd_epi32(sum.v, a.v, b.v)};
#else
  return {_mm512_add_epi32(sum.v, _mm512_madd_epi16(a.v, b.v))};
#endif
}

// Four rows of 16 bytes, 4 * stride apart.
[[gnu::always_inline]] static inline __m512i load_four_rows(const uint8_t* p, int64_t stride) {
  const auto row = [&](int64_t idx) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + idx * stride));
  };
  __m512i rows = _mm512_castsi128_si512(row(0));
  rows = _mm512_inserti32x4(rows, row(4), 1);
  rows = _mm512_inserti32x4(rows, row(8), 2);
  return _mm512_inserti32x4(rows, row(12), 3);
}

[[gnu::always_inline]] static inline void load_rows(const uint8_t* p, int64_t stride, IVec* rows) {
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    rows[idx] = {load_four_rows(p + idx * stride, stride)};
  }
}

[[gnu::always_inline]] static inline IVec splat_16(const uint8_t* p) {
  return {_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}

[[gnu::always_inline]] static inline IVec add_across(const IVec* rows) {
  const __m512i ab = _mm512_add_epi32(
      _mm512_unpacklo_epi32(rows[0].v, rows[1].v), _mm512_unpackhi_epi32(rows[0].v, rows[1].v)
  );
  const __m512i cd = _mm512_add_epi32(
      _mm512_unpacklo_epi32(rows[2].v, rows[3].v), _mm512_unpackhi_epi32(rows[2].v, rows[3].v)
  );
  return {_mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))};
}

// Two rows of 32 bytes, 4 * stride apart.
[[gnu::always_inline]] static inline __m512i load_two_long_rows(const uint8_t* p, int64_t stride) {
  const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 4 * stride));
  return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

[[gnu::always_inline]] static inline void load_long_rows(
    const uint8_t* p, int64_t stride, IVec* rows
) {
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    rows[idx] = {load_two_long_rows(p + idx * stride, stride)};
    rows[idx + 4] = {load_two_long_rows(p + (idx + 8) * stride, stride)};
  }
}

[[gnu::always_inline]] static inline IVec splat_32(const uint8_t* p) {
  return {_mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}

[[gnu::always_inline]] static inline IVec add_long_across(const IVec* rows) {
  IVec sums[4];
#pragma GCC unroll 4
  for (int idx = 0; idx < 4; ++idx) {
    const __m512i a = rows[idx].v;
    const __m512i b = rows[idx + 4].v;
    sums[idx] = {
        _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xDD))};
  }
  return add_across(sums);
}

[[gnu::always_inline]] static inline void load_columns(
    const uint8_t* p, int64_t stride, IVec* columns
) {
  const __m512i a = load_four_rows(p, stride);
  const __m512i b = load_four_rows(p + stride, stride);
  const __m512i c = load_four_rows(p + 2 * stride, stride);
  const __m512i d = load_four_rows(p + 3 * stride, stride);
  const __m512i ab_low = _mm512_unpacklo_epi32(a, b);
  const __m512i ab_high = _mm512_unpackhi_epi32(a, b);
  const __m512i cd_low = _mm512_unpacklo_epi32(c, d);
  const __m512i cd_high = _mm512_unpackhi_epi32(c, d);
  columns[0] = {_mm512_unpacklo_epi64(ab_low, cd_low)};
  columns[1] = {_mm512_unpackhi_epi64(ab_low, cd_low)};
  columns[2] = {_mm512_unpacklo_epi64(ab_high, cd_high)};
  columns[3] = {_mm512_unpackhi_epi64(ab_high, cd_high)};
}

// The first lane of each 128 bits of four rows, side by side.
[[gnu::always_inline]] static inline __m512i load_four_heads(const uint8_t* p, int64_t stride) {
  const __m512i ab = _mm512_unpacklo_epi32(_mm512_loadu_si512(p), _mm512_loadu_si512(p + stride));
  const __m512i cd =
      _mm512_unpacklo_epi32(_mm512_loadu_si512(p + 2 * stride), _mm512_loadu_si512(p + 3 * stride));
  return _mm512_unpacklo_epi64(ab, cd);
}

[[gnu::always_inline]] static inline void load_spread(
    const uint8_t* p, int64_t stride, IVec* spread
) {
  const __m512i a = load_four_heads(p, stride);
  const __m512i b = load_four_heads(p + 4 * stride, stride);
  const __m512i c = load_four_heads(p + 8 * stride, stride);
  const __m512i d = load_four_heads(p + 12 * stride, stride);
  const __m512i ab_low = _mm512_shuffle_i32x4(a, b, 0x44);
  const __m512i ab_high = _mm512_shuffle_i32x4(a, b, 0xEE);
  const __m512i cd_low = _mm512_shuffle_i32x4(c, d, 0x44);
  const __m512i cd_high = _mm512_shuffle_i32x4(c, d, 0xEE);
  spread[0] = {_mm512_shuffle_i32x4(ab_low, cd_low, 0x88)};
  spread[1] = {_mm512_shuffle_i32x4(ab_low, cd_low, 0xDD)};
  spread[2] = {_mm512_shuffle_i32x4(ab_high, cd_high, 0x88)};
  spread[3] = {_mm512_shuffle_i32x4(ab_high, cd_high, 0xDD)};
}

static inline void store_alternating(float* p, Vec even, Vec odd) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  _mm512_storeu_ps(p, _mm512_permutex2var_ps(even.v, low, odd.v));
  _mm512_storeu_ps(p + kLanes, _mm512_permutex2var_ps(even.v, high, odd.v));
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

#if defined(__AVX512VNNI__)

inline constexpr bool kHasByteDots = true;

static inline IVec begin_byte_sums(IVec sum) {
  return sum;
}

static inline IVec add_byte_products(IVec sums, IVec a, IVec b) {
  return {_mm512_dpbusd_epi32(sums.v, a.v, b.v)};
}

static inline IVec end_byte_sums(IVec /*sum*/, IVec sums) {
  return sums;
}

#else

inline constexpr bool kHasByteDots = false;

static inline IVec begin_byte_sums(IVec /*sum*/) {
  return {_mm512_setzero_si512()};
}

static inline IVec add_byte_products(IVec sums, IVec a, IVec b) {
  return {_mm512_add_epi16(sums.v, _mm512_maddubs_epi16(a.v, b.v))};
}

static inline IVec end_byte_sums(IVec sum, IVec sums) {
  return add_pair_products(sum, sums, {_mm512_set1_epi16(1)});
}

#endif

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
