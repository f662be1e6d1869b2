// Loops that do one kind of instruction as fast as the core can; nothing else is measured, so the
// operands stay in registers. `hide` tells the compiler that a value may have changed, which costs
// no instruction and keeps it from computing a product once only. The loops over chains are
// unrolled so that each chain is a register.

#include "kernels/cpu/peaks_internal.h"
#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

// The levels in order, so that RAPT_CPU_LEVEL can be compared.
enum class Level { scalar, avx2, avx512, avx512vnni };
constexpr bool kHasDots = Level::RAPT_CPU_LEVEL == Level::avx512vnni;

#if defined(__AVX512F__)

constexpr int kFmaChains = 16;
// A dot instruction adds to its chain after five cycles, a plain addition after one.
constexpr int kDotChains = kHasDots ? 12 : 6;

using Ints = __m512i;
constexpr int kIntBytes = 64;

inline void hide(Ints& a) {
  asm volatile("" : "+v"(a));
}

inline Ints zero_ints() {
  return _mm512_setzero_si512();
}

inline Ints splat_byte(int value) {
  return _mm512_set1_epi8(static_cast<char>(value));
}

inline Ints add32(Ints a, Ints b) {
  return _mm512_add_epi32(a, b);
}

inline Ints add16(Ints a, Ints b) {
  return _mm512_add_epi16(a, b);
}

inline Ints products16(Ints a, Ints b) {
  return _mm512_madd_epi16(a, b);
}

inline Ints products8(Ints a, Ints b) {
  return _mm512_maddubs_epi16(a, b);
}

inline Ints load_ints(const void* p) {
  return _mm512_load_si512(p);
}

inline int32_t first_int(Ints a) {
  return _mm_cvtsi128_si32(_mm512_castsi512_si128(a));
}

#elif defined(__AVX2__)

constexpr int kFmaChains = 6;  // of two registers each
constexpr int kDotChains = 6;

using Ints = __m256i;
constexpr int kIntBytes = 32;

inline void hide(Ints& a) {
  asm volatile("" : "+x"(a));
}

inline Ints zero_ints() {
  return _mm256_setzero_si256();
}

inline Ints splat_byte(int value) {
  return _mm256_set1_epi8(static_cast<char>(value));
}

inline Ints add32(Ints a, Ints b) {
  return _mm256_add_epi32(a, b);
}

inline Ints add16(Ints a, Ints b) {
  return _mm256_add_epi16(a, b);
}

inline Ints products16(Ints a, Ints b) {
  return _mm256_madd_epi16(a, b);
}

inline Ints products8(Ints a, Ints b) {
  return _mm256_maddubs_epi16(a, b);
}

inline Ints load_ints(const void* p) {
  return _mm256_load_si256(static_cast<const __m256i*>(p));
}

inline int32_t first_int(Ints a) {
  return _mm_cvtsi128_si32(_mm256_castsi256_si128(a));
}

#else

constexpr int kFmaChains = 1;
constexpr int kDotChains = 1;

struct Ints {
  int32_t lane[kLanes];
};

constexpr int kIntBytes = 64;

inline void hide(Ints& a) {
  asm volatile("" : : "r"(&a) : "memory");
}

inline Ints zero_ints() {
  return {};
}

inline Ints splat_byte(int value) {
  Ints out;
  __builtin_memset(&out, value, sizeof(out));
  return out;
}

inline Ints add32(Ints a, Ints b) {
  for (int i = 0; i < kLanes; ++i) {
    // What is added up has no meaning and may wrap around.
    a.lane[i] =
        static_cast<int32_t>(static_cast<uint32_t>(a.lane[i]) + static_cast<uint32_t>(b.lane[i]));
  }
  return a;
}

inline Ints add16(Ints a, Ints b) {
  return add32(a, b);
}

inline Ints products16(Ints a, Ints b) {
  for (int i = 0; i < kLanes; ++i) {
    a.lane[i] = static_cast<int16_t>(a.lane[i]) * static_cast<int16_t>(b.lane[i]) +
                (a.lane[i] >> 16) * (b.lane[i] >> 16);
  }
  return a;
}

inline Ints products8(Ints a, Ints b) {
  for (int i = 0; i < kLanes; ++i) {
    int32_t sum = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      sum += static_cast<uint8_t>(a.lane[i] >> shift) * static_cast<int8_t>(b.lane[i] >> shift);
    }
    a.lane[i] = sum;
  }
  return a;
}

inline Ints load_ints(const void* p) {
  Ints out;
  __builtin_memcpy(&out, p, sizeof(out));
  return out;
}

inline int32_t first_int(Ints a) {
  return a.lane[0];
}

#endif

// Adds the products of int16 to each 32-bit lane. A template, as a build may lack the instruction.
template <typename I>
inline I dot16(I sum, I a, I b) {
  if constexpr (kHasDots) {
    return _mm512_dpwssd_epi32(sum, a, b);
  } else {
    return add32(sum, products16(a, b));
  }
}

// The same for bytes.
template <typename I>
inline I dot8(I sum, I a, I b) {
  if constexpr (kHasDots) {
    return _mm512_dpbusd_epi32(sum, a, b);
  } else {
    return add32(sum, products16(products8(a, b), splat_byte(1)));
  }
}

// Four byte products a 16-bit lane, added up there before they reach the 32-bit ones. One dot
// instruction does as much in 32 bits.
constexpr int kProductsOfSums16 = 4;

template <typename I>
inline I dot8_sums16(I sum, I& a, I b) {
  if constexpr (kHasDots) {
#pragma GCC unroll 16
    for (int i = 0; i < kProductsOfSums16; ++i) {
      hide(a);
      sum = dot8(sum, a, b);
    }
    return sum;
  } else {
    I pairs = products8(a, b);
#pragma GCC unroll 16
    for (int i = 1; i < kProductsOfSums16; ++i) {
      hide(a);
      pairs = add16(pairs, products8(a, b));
    }
    return add32(sum, products16(pairs, splat_byte(1)));
  }
}

float fma_rounds(int64_t num_rounds) {
  const Vec a = splat(0.999F);
  const Vec b = splat(0.001F);
  Vec sums[kFmaChains];
#pragma GCC unroll 16
  for (int i = 0; i < kFmaChains; ++i) {
    sums[i] = splat(static_cast<float>(i));
  }
  for (int64_t round = 0; round < num_rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kFmaChains; ++i) {
      sums[i] = fma(sums[i], a, b);
    }
  }
  float total = 0.0F;
#pragma GCC unroll 16
  for (int i = 0; i < kFmaChains; ++i) {
    total += sum_lanes(sums[i]);
  }
  return total;
}

// What one chain adds each round.
template <typename Add>
inline int32_t dot_rounds(int64_t num_rounds, Add add) {
  Ints sums[kDotChains];
#pragma GCC unroll 16
  for (int i = 0; i < kDotChains; ++i) {
    sums[i] = zero_ints();
  }
  Ints a = splat_byte(1);
  const Ints b = splat_byte(2);
  for (int64_t round = 0; round < num_rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kDotChains; ++i) {
      hide(a);
      sums[i] = add(sums[i], a, b);
      hide(sums[i]);
    }
  }
  Ints total = zero_ints();
#pragma GCC unroll 16
  for (int i = 0; i < kDotChains; ++i) {
    total = add32(total, sums[i]);
  }
  return first_int(total);
}

int32_t i16_rounds(int64_t num_rounds) {
  return dot_rounds(num_rounds, [](Ints sum, Ints& a, Ints b) { return dot16(sum, a, b); });
}

int32_t i8_rounds(int64_t num_rounds) {
  return dot_rounds(num_rounds, [](Ints sum, Ints& a, Ints b) { return dot8(sum, a, b); });
}

int32_t i8_sums16_rounds(int64_t num_rounds) {
  return dot_rounds(num_rounds, [](Ints sum, Ints& a, Ints b) { return dot8_sums16(sum, a, b); });
}

int32_t read(const void* data, int64_t num_bytes) {
  constexpr int kStreams = 4;  // a page-sized distance apart would fight over cache sets; lines
                               // next to each other do not
  const char* p = static_cast<const char*>(data);
  Ints sums[kStreams];
#pragma GCC unroll 16
  for (int i = 0; i < kStreams; ++i) {
    sums[i] = zero_ints();
  }
  for (int64_t at = 0; at < num_bytes; at += kStreams * kIntBytes) {
    __builtin_prefetch(p + at + 1024);
    __builtin_prefetch(p + at + 1088);
#pragma GCC unroll 16
    for (int i = 0; i < kStreams; ++i) {
      sums[i] = add32(sums[i], load_ints(p + at + i * kIntBytes));
    }
  }
  Ints total = zero_ints();
#pragma GCC unroll 16
  for (int i = 0; i < kStreams; ++i) {
    total = add32(total, sums[i]);
  }
  return first_int(total);
}

}  // namespace

extern const PeakTable kPeakTable;
const PeakTable kPeakTable = {
    .ops_fma = int64_t{2} * kLanes * kFmaChains,
    .ops_i16 = int64_t{2} * (kIntBytes / 2) * kDotChains,
    .ops_i8 = int64_t{2} * kIntBytes * kDotChains,
    .ops_i8_sums16 = int64_t{2} * kIntBytes * kProductsOfSums16 * kDotChains,
    .fma_rounds = fma_rounds,
    .i16_rounds = i16_rounds,
    .i8_rounds = i8_rounds,
    .i8_sums16_rounds = i8_sums16_rounds,
    .read = read,
};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
