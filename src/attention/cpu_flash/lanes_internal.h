#pragma once

// What cpu-flash needs of 16 lanes beyond kernels/cpu/vec.h, and how large its register tiles are.
// Included only by files that are compiled once for each CPU level.

#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

struct VecPair {
  Vec lo;
  Vec hi;
};

struct VecQuad {
  Vec part[4];
};

// kMaxTileRows query rows share one load of keys; vectors_for(rows) vectors of keys or dimensions
// share one load of a query element or weight. Together they fill the level's registers.
#if defined(__AVX512F__)

inline constexpr int kMaxTileRows = 8;

constexpr int vectors_for(int num_rows) {
  return num_rows == 8 ? 2 : 4;
}

static inline Vec max(Vec a, Vec b) {
  return {_mm512_max_ps(a.v, b.v)};
}

static inline float max_lanes(Vec a) {
  const __m256 lo = _mm512_castps512_ps256(a.v);
  const __m256 hi = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a.v), 1));
  const __m256 eight = _mm256_max_ps(lo, hi);
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

static inline float joined(Vec a) {
  const __m256 lo = _mm512_castps512_ps256(a.v);
  const __m256 hi = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a.v), 1));
  const __m256 eight = _mm256_add_ps(lo, hi);
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline Vec keep_lanes(Vec a, int64_t first, int64_t end, float other) {
  const uint32_t mask = ((1U << end) - 1U) & ~((1U << first) - 1U);
  return {_mm512_mask_blend_ps(static_cast<__mmask16>(mask), _mm512_set1_ps(other), a.v)};
}

static inline Vec exponent_field(Vec a) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(a.v), 23))};
}

static inline VecPair load_bf16_words(const uint16_t* p) {
  const __m512i words = _mm512_loadu_si512(p);
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000U));
  return {
      {_mm512_castsi512_ps(_mm512_slli_epi32(words, 16))},
      {_mm512_castsi512_ps(_mm512_and_epi32(words, upper))}};
}

static inline Vec f8_part(__m512i words, int shift) {
  // The byte at bits 24 to 31, its 7 low bits at 20 to 26: a float 2^120 times too small.
  const __m512i byte = _mm512_slli_epi32(words, static_cast<unsigned>(24 - shift));
  const __m512i magnitude =
      _mm512_and_epi32(_mm512_srli_epi32(byte, 4), _mm512_set1_epi32(0x07F00000));
  const __m512i sign = _mm512_and_epi32(byte, _mm512_set1_epi32(static_cast<int>(0x80000000U)));
  const __mmask16 is_nan = _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x07F00000));
  const __m512i bits = _mm512_or_epi32(magnitude, sign);
  const __m512i nan = _mm512_set1_epi32(0x7FC00000);
  return {_mm512_castsi512_ps(_mm512_mask_or_epi32(bits, is_nan, bits, nan))};
}

static inline VecQuad load_f8_words(const uint8_t* p) {
  const __m512i words = _mm512_loadu_si512(p);
  return {{f8_part(words, 0), f8_part(words, 8), f8_part(words, 16), f8_part(words, 24)}};
}

#elif defined(__AVX2__)

inline constexpr int kMaxTileRows = 4;

constexpr int vectors_for(int num_rows) {
  return num_rows == 4 ? 1 : num_rows == 2 ? 2 : 4;
}

static inline Vec max(Vec a, Vec b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}

static inline float max_lanes(Vec a) {
  const __m256 eight = _mm256_max_ps(a.lo, a.hi);
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

static inline float joined(Vec a) {
  const __m256 eight = _mm256_add_ps(a.lo, a.hi);
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline __m256 keep_half(__m256 a, int64_t first, int64_t end, int base, float other) {
  const __m256i lane =
      _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(base));
  const __m256i too_low = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(first)), lane);
  const __m256i kept = _mm256_andnot_si256(
      too_low, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(end)), lane)
  );
  return _mm256_blendv_ps(_mm256_set1_ps(other), a, _mm256_castsi256_ps(kept));
}

static inline Vec keep_lanes(Vec a, int64_t first, int64_t end, float other) {
  return {keep_half(a.lo, first, end, 0, other), keep_half(a.hi, first, end, 8, other)};
}

static inline Vec exponent_field(Vec a) {
  return {
      _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a.lo), 23)),
      _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a.hi), 23))};
}

static inline VecPair load_bf16_words(const uint16_t* p) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 16));
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xFFFF0000U));
  return {
      {_mm256_castsi256_ps(_mm256_slli_epi32(a, 16)),
       _mm256_castsi256_ps(_mm256_slli_epi32(b, 16))},
      {_mm256_castsi256_ps(_mm256_and_si256(a, upper)),
       _mm256_castsi256_ps(_mm256_and_si256(b, upper))}};
}

static inline __m256 f8_half(__m256i words, int shift) {
  const __m256i byte = _mm256_slli_epi32(words, 24 - shift);
  const __m256i magnitude =
      _mm256_and_si256(_mm256_srli_epi32(byte, 4), _mm256_set1_epi32(0x07F00000));
  const __m256i sign = _mm256_and_si256(byte, _mm256_set1_epi32(static_cast<int>(0x80000000U)));
  const __m256i is_nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x07F00000));
  const __m256i nan = _mm256_and_si256(is_nan, _mm256_set1_epi32(0x7FC00000));
  return _mm256_castsi256_ps(_mm256_or_si256(_mm256_or_si256(magnitude, sign), nan));
}

static inline VecQuad load_f8_words(const uint8_t* p) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
  return {
      {{f8_half(a, 0), f8_half(b, 0)},
       {f8_half(a, 8), f8_half(b, 8)},
       {f8_half(a, 16), f8_half(b, 16)},
       {f8_half(a, 24), f8_half(b, 24)}}};
}

#else

inline constexpr int kMaxTileRows = 4;

constexpr int vectors_for(int num_rows) {
  return num_rows == 4 ? 1 : num_rows == 2 ? 2 : 4;
}

static inline uint32_t bits_of(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static inline Vec max(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}

static inline float max_lanes(Vec a) {
  float m = a.lane[0];
  for (int lane_idx = 1; lane_idx < kLanes; ++lane_idx) {
    m = m > a.lane[lane_idx] ? m : a.lane[lane_idx];
  }
  return m;
}

static inline float joined(Vec a) {
  return sum_lanes(a);
}

static inline Vec keep_lanes(Vec a, int64_t first, int64_t end, float other) {
  return each_lane([&](int i) { return i >= first && i < end ? a.lane[i] : other; });
}

static inline Vec exponent_field(Vec a) {
  return each_lane([&](int i) { return float_of_bits(bits_of(a.lane[i]) << 23); });
}

static inline VecPair load_bf16_words(const uint16_t* p) {
  return {
      each_lane([&](int i) { return float_of_bits(static_cast<uint32_t>(p[2 * i]) << 16); }),
      each_lane([&](int i) { return float_of_bits(static_cast<uint32_t>(p[2 * i + 1]) << 16); })};
}

static inline VecQuad load_f8_words(const uint8_t* p) {
  VecQuad quad;
  for (int part = 0; part < 4; ++part) {
    quad.part[part] = each_lane([&](int i) {
      const uint32_t byte = p[4 * i + part];
      const uint32_t nan = (byte & 0x7FU) == 0x7FU ? 0x7FC00000U : 0U;
      return float_of_bits((byte & 0x80U) << 24 | (byte & 0x7FU) << 20 | nan);
    });
  }
  return quad;
}

#endif

// joined: sum_lanes() of vec.h, without its detour through memory.
// The `max` above is a > b ? a : b, so b where one is NaN; max_lanes() of NaN lanes is some lane.
// exponent_field: the lowest 9 bits of each lane moved to the top.
// load_bf16_words: 32 BF16 as 16 words, the lower halves and the upper halves.
// load_f8_words: 64 E4M3 as 16 words of four, each 2^-120 of its value.

// exp2_of() of ref.cpp, lane by lane.
static inline Vec exp2(Vec x) {
  const Vec round = splat(12582912.0F + 127.0F);
  const Vec t = max(splat(-127.0F), x);
  const Vec rounded = add(t, round);
  const Vec f = sub(t, sub(rounded, round));
  Vec p = splat(flash::kExp2[4]);
  p = fma(p, f, splat(flash::kExp2[3]));
  p = fma(p, f, splat(flash::kExp2[2]));
  p = fma(p, f, splat(flash::kExp2[1]));
  p = fma(p, f, splat(flash::kExp2[0]));
  p = fma(p, f, splat(1.0F));
  return mul(p, exponent_field(rounded));
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
