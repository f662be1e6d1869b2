#pragma once

// Sixteen fp32 lanes, the unit in which every CPU kernel is written. The same kernel text is
// compiled once for each CPU level: 16 lanes are one AVX-512 register, two AVX2 registers, or an
// array that a loop walks. Each operation rounds as IEEE 754 says, lane by lane, so all three give
// the same bits.
//
// Files that include this are compiled with instructions the machine may lack. They must not
// instantiate anything that other files share (no standard library templates or inline functions):
// the linker keeps one copy, and it could be the wrong one. So: pointers, loops, and builtins only.
// RAPT_CPU_LEVEL is set by the build to avx512, avx2 or scalar and names the namespace.

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace rapt::cpu::RAPT_CPU_LEVEL {

inline constexpr int kLanes = 16;

#if defined(__AVX512F__)

struct Vec {
  __m512 v;
};

static inline Vec splat(float x) {
  return {_mm512_set1_ps(x)};
}

static inline Vec load(const float* p) {
  return {_mm512_loadu_ps(p)};
}

static inline void store(float* p, Vec a) {
  _mm512_storeu_ps(p, a.v);
}

static inline Vec add(Vec a, Vec b) {
  return {_mm512_add_ps(a.v, b.v)};
}

static inline Vec sub(Vec a, Vec b) {
  return {_mm512_sub_ps(a.v, b.v)};
}

static inline Vec mul(Vec a, Vec b) {
  return {_mm512_mul_ps(a.v, b.v)};
}

static inline Vec div(Vec a, Vec b) {
  return {_mm512_div_ps(a.v, b.v)};
}

static inline Vec fma(Vec a, Vec b, Vec c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}

// a < b ? x : y, lane by lane; y where a or b is NaN.
static inline Vec select_less(Vec a, Vec b, Vec x, Vec y) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)};
}

// 2^(int(a)) for integral a in [-126, 127].
static inline Vec pow2(Vec a) {
  const __m512i n = _mm512_cvtps_epi32(a.v);
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(127)), 23))};
}

static inline Vec load_bf16(const uint16_t* p) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
}

static inline Vec load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}

static inline Vec load_i8(const int8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))};
}

// The 16 floats at even and at odd places of the 32 at p.
static inline void load_pairs(const float* p, Vec& even, Vec& odd) {
  const __m512i places =
      _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512 lo = _mm512_loadu_ps(p);
  const __m512 hi = _mm512_loadu_ps(p + 16);
  even = {_mm512_permutex2var_ps(lo, places, hi)};
  odd = {_mm512_permutex2var_ps(lo, _mm512_add_epi32(places, _mm512_set1_epi32(1)), hi)};
}

#elif defined(__AVX2__)

struct Vec {
  __m256 lo;
  __m256 hi;
};

static inline Vec splat(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}

static inline Vec load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

static inline void store(float* p, Vec a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}

static inline Vec add(Vec a, Vec b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}

static inline Vec sub(Vec a, Vec b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}

static inline Vec mul(Vec a, Vec b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}

static inline Vec div(Vec a, Vec b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}

static inline Vec fma(Vec a, Vec b, Vec c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}

static inline Vec select_less(Vec a, Vec b, Vec x, Vec y) {
  return {
      _mm256_blendv_ps(y.lo, x.lo, _mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)),
      _mm256_blendv_ps(y.hi, x.hi, _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
}

static inline __m256 pow2_half(__m256 a) {
  const __m256i n = _mm256_add_epi32(_mm256_cvtps_epi32(a), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(n, 23));
}

static inline Vec pow2(Vec a) {
  return {pow2_half(a.lo), pow2_half(a.hi)};
}

static inline __m256 load_bf16_half(const uint16_t* p) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

static inline Vec load_bf16(const uint16_t* p) {
  return {load_bf16_half(p), load_bf16_half(p + 8)};
}

static inline Vec load_f16(const uint16_t* p) {
  return {
      _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
      _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
}

static inline __m256 load_i8_half(const int8_t* p) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

static inline Vec load_i8(const int8_t* p) {
  return {load_i8_half(p), load_i8_half(p + 8)};
}

// Of two registers of pairs, the firsts (kFirsts) or the seconds (kSeconds), in order.
inline constexpr int kFirsts = 0x88;
inline constexpr int kSeconds = 0xDD;

template <int kWhich>
static inline __m256 halves_of_pairs(__m256 a, __m256 b) {
  const __m256d mixed = _mm256_castps_pd(_mm256_shuffle_ps(a, b, kWhich));
  return _mm256_castpd_ps(_mm256_permute4x64_pd(mixed, 0xD8));
}

static inline void load_pairs(const float* p, Vec& even, Vec& odd) {
  const Vec first = {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
  const Vec second = {_mm256_loadu_ps(p + 16), _mm256_loadu_ps(p + 24)};
  even = {
      halves_of_pairs<kFirsts>(first.lo, first.hi), halves_of_pairs<kFirsts>(second.lo, second.hi)};
  odd = {
      halves_of_pairs<kSeconds>(first.lo, first.hi),
      halves_of_pairs<kSeconds>(second.lo, second.hi)};
}

#else

struct Vec {
  float lane[kLanes];
};

template <typename Function>
static inline Vec each_lane(Function function) {
  Vec out;
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    out.lane[lane_idx] = function(lane_idx);
  }
  return out;
}

static inline Vec splat(float x) {
  return each_lane([&](int) { return x; });
}

static inline Vec load(const float* p) {
  return each_lane([&](int i) { return p[i]; });
}

static inline void store(float* p, Vec a) {
  for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
    p[lane_idx] = a.lane[lane_idx];
  }
}

static inline Vec add(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] + b.lane[i]; });
}

static inline Vec sub(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] - b.lane[i]; });
}

static inline Vec mul(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] * b.lane[i]; });
}

static inline Vec div(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] / b.lane[i]; });
}

static inline Vec fma(Vec a, Vec b, Vec c) {
  return each_lane([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}

static inline Vec select_less(Vec a, Vec b, Vec x, Vec y) {
  return each_lane([&](int i) { return a.lane[i] < b.lane[i] ? x.lane[i] : y.lane[i]; });
}

static inline float float_of_bits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

static inline Vec pow2(Vec a) {
  return each_lane([&](int i) {
    return float_of_bits(static_cast<uint32_t>(static_cast<int32_t>(a.lane[i]) + 127) << 23);
  });
}

static inline Vec load_bf16(const uint16_t* p) {
  return each_lane([&](int i) { return float_of_bits(static_cast<uint32_t>(p[i]) << 16); });
}

static inline Vec load_f16(const uint16_t* p) {
  return each_lane([&](int i) {
    const uint32_t sign = static_cast<uint32_t>(p[i] & 0x8000U) << 16;
    const uint32_t exponent = (p[i] >> 10) & 0x1FU;
    const uint32_t mantissa = p[i] & 0x3FFU;
    if (exponent == 0x1FU) {
      return float_of_bits(sign | 0x7F800000U | (mantissa << 13));
    }
    if (exponent != 0) {
      return float_of_bits(sign | ((exponent + 112U) << 23) | (mantissa << 13));
    }
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  });
}

static inline Vec load_i8(const int8_t* p) {
  return each_lane([&](int i) { return static_cast<float>(p[i]); });
}

static inline void load_pairs(const float* p, Vec& even, Vec& odd) {
  even = each_lane([&](int i) { return p[2 * i]; });
  odd = each_lane([&](int i) { return p[2 * i + 1]; });
}

#endif

// The sum of the 16 lanes by the fixed tree of docs/NUMERICS.md: lane i += lane i + 8, then + 4,
// + 2, + 1.
#if defined(__AVX2__)

static inline float sum_lanes(Vec a) {
#if defined(__AVX512F__)
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
#else
  const __m256 eight = _mm256_add_ps(a.lo, a.hi);
#endif
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

#else

static inline float sum_lanes(Vec a) {
  float lane[kLanes];
  store(lane, a);
  for (int half = kLanes / 2; half >= 1; half /= 2) {
    for (int lane_idx = 0; lane_idx < half; ++lane_idx) {
      lane[lane_idx] += lane[lane_idx + half];
    }
  }
  return lane[0];
}

#endif

// The first `count` < 16 floats at p; zero in the other lanes.
static inline Vec load_first(const float* p, int64_t count) {
  float lane[kLanes] = {};
  for (int64_t idx = 0; idx < count; ++idx) {
    lane[idx] = p[idx];
  }
  return load(lane);
}

static inline void store_first(float* p, Vec a, int64_t count) {
  float lane[kLanes];
  store(lane, a);
  for (int64_t idx = 0; idx < count; ++idx) {
    p[idx] = lane[idx];
  }
}

// The steps of math::exp(float) in kernels/math.cpp, lane by lane. NaN lanes stay NaN.
static inline Vec exp(Vec x) {
  const Vec round = splat(12582912.0F);
  // Lanes out of range are computed at the bound and replaced at the end.
  Vec t = select_less(x, splat(-104.0F), splat(-104.0F), x);
  t = select_less(splat(88.73F), t, splat(88.73F), t);
  const Vec n = sub(fma(t, splat(1.44269502F), round), round);
  Vec r = fma(n, splat(-0.693359375F), t);
  r = fma(n, splat(2.12194440e-4F), r);
  Vec p = splat(1.0F / 5040.0F);
  p = fma(p, r, splat(1.0F / 720.0F));
  p = fma(p, r, splat(1.0F / 120.0F));
  p = fma(p, r, splat(1.0F / 24.0F));
  p = fma(p, r, splat(1.0F / 6.0F));
  p = fma(p, r, splat(0.5F));
  p = fma(p, r, splat(1.0F));
  p = fma(p, r, splat(1.0F));
  // floor(n / 2): n / 2 is a multiple of a half, and taking a quarter away makes ties round down.
  const Vec half = sub(add(fma(n, splat(0.5F), splat(-0.25F)), round), round);
  Vec result = mul(mul(p, pow2(half)), pow2(sub(n, half)));
  result = select_less(x, splat(-104.0F), splat(0.0F), result);
  return select_less(splat(88.73F), x, splat(__builtin_inff()), result);
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
