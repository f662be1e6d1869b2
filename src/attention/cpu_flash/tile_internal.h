#pragma once

// The two products of a tile of 64 keys, scores and outputs, in registers. Included only by files
// that are compiled once for each CPU level.

#include "attention/cpu_flash/kernel_internal.h"
#include "attention/cpu_flash/lanes_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

// Floats from a row's weights to the next's. Not a multiple of 16: the first level cache serves two
// loads a cycle only if they differ in their place within a line.
inline constexpr int kWeightStride = flash::kTile + 2;
inline constexpr int kGroups = flash::kTile / kKeyGroup;  // of a tile

static inline void read_ahead(const void* p) {
  __builtin_prefetch(p, 0, 3);
}

// How to read 16 keys' K or V (kv_layout.h): two vectors at a time, and the same ahead of time.
struct F32Elements {
  using Element = float;

  // Dimensions d and d + 1 of 16 keys; d is even.
  static inline VecPair k_pair(const float* group, int64_t d) {
    return {load(group + d * kLanes), load(group + (d + 1) * kLanes)};
  }

  // 16 dimensions from `dim` on of keys j and j + 1; j is even.
  static inline VecPair v_pair(const float* group, int64_t j, int64_t dim, int64_t head_dim) {
    const float* p = group + j * head_dim + dim;
    return {load(p), load(p + head_dim)};
  }

  static inline void k_ahead(const float* group, int64_t d) {
    read_ahead(group + d * kLanes);
    read_ahead(group + (d + 1) * kLanes);
  }

  static inline void v_ahead(const float* group, int64_t j, int64_t dim, int64_t head_dim) {
    read_ahead(group + j * head_dim + dim);
    read_ahead(group + (j + 1) * head_dim + dim);
  }
};

struct Bf16Elements {
  using Element = uint16_t;

  static inline VecPair k_pair(const uint16_t* group, int64_t d) {
    return load_bf16_words(group + d * kLanes);
  }

  static inline VecPair v_pair(const uint16_t* group, int64_t j, int64_t dim, int64_t head_dim) {
    return load_bf16_words(group + j * head_dim + 2 * dim);
  }

  static inline void k_ahead(const uint16_t* group, int64_t d) { read_ahead(group + d * kLanes); }

  static inline void v_ahead(const uint16_t* group, int64_t j, int64_t dim, int64_t head_dim) {
    read_ahead(group + j * head_dim + 2 * dim);
  }
};

// Where a tile's keys are: one pointer for 16 keys. `next` is read ahead: the same of the tile that
// comes after, or this one again at the end.
template <typename Elements>
struct Tile {
  using Element = typename Elements::Element;
  int64_t first = 0;  // position of its first key
  const Element* k[kGroups] = {};
  const Element* v[kGroups] = {};
  const Element* next_k[kGroups] = {};
  const Element* next_v[kGroups] = {};
};

// scores[r * kTile + ...] = q_r . k for kNumRows rows and the 16 kNumVecs keys of groups from
// `group` on.
template <typename Elements, int kNumRows, int kNumVecs, bool kReadAhead>
[[gnu::noinline]] void score_groups(
    const float* q,  // [head_dim, kNumRows]
    const Tile<Elements>& tile,
    int64_t group,
    int64_t head_dim,
    float* scores
) {
  Vec sum[kNumRows][kNumVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kNumRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kNumVecs; ++c) {
      sum[r][c] = splat(0.0F);
    }
  }
  for (int64_t d = 0; d < head_dim; d += 2) {
    VecPair k[kNumVecs];
#pragma GCC unroll 16
    for (int c = 0; c < kNumVecs; ++c) {
      k[c] = Elements::k_pair(tile.k[group + c], d);
      if constexpr (kReadAhead) {
        Elements::k_ahead(tile.next_k[group + c], d);
      }
    }
    const float* q_d = q + d * kNumRows;
#pragma GCC unroll 16
    for (int r = 0; r < kNumRows; ++r) {
      const Vec element = splat(q_d[r]);
#pragma GCC unroll 16
      for (int c = 0; c < kNumVecs; ++c) {
        sum[r][c] = fma(element, k[c].lo, sum[r][c]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kNumRows; ++r) {
      const Vec element = splat(q_d[kNumRows + r]);
#pragma GCC unroll 16
      for (int c = 0; c < kNumVecs; ++c) {
        sum[r][c] = fma(element, k[c].hi, sum[r][c]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kNumRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kNumVecs; ++c) {
      store(scores + r * flash::kTile + (group + c) * kLanes, sum[r][c]);
    }
  }
}

template <int kNumRows, int kNumVecs>
inline void add_key(
    const float* weights, const Vec (&v)[kNumVecs], Vec (&sum)[kNumRows][kNumVecs]
) {
#pragma GCC unroll 16
  for (int r = 0; r < kNumRows; ++r) {
    const Vec weight = splat(weights[r * kWeightStride]);
#pragma GCC unroll 16
    for (int c = 0; c < kNumVecs; ++c) {
      sum[r][c] = fma(weight, v[c], sum[r][c]);
    }
  }
}

// out_r = factor_r * out_r, then + weight_rj * v_j for the keys [first, end) of the tile,
// ascending; of 16 kNumVecs dimensions from `dim` on.
template <typename Elements, int kNumRows, int kNumVecs, bool kReadAhead>
[[gnu::noinline]] void add_values(
    const float* weights,  // [kNumRows, kWeightStride]
    const Tile<Elements>& tile,
    int64_t first,
    int64_t end,
    int64_t dim,
    int64_t head_dim,
    const float* factors,  // [kNumRows]
    float* out             // [kNumRows, head_dim]
) {
  Vec sum[kNumRows][kNumVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kNumRows; ++r) {
    const Vec factor = splat(factors[r]);
#pragma GCC unroll 16
    for (int c = 0; c < kNumVecs; ++c) {
      sum[r][c] = mul(load(out + r * head_dim + dim + c * kLanes), factor);
    }
  }
  // Of two keys one is wanted: at an odd border.
  const auto add_one = [&](int64_t j) __attribute__((always_inline)) {
    Vec one[kNumVecs];
#pragma GCC unroll 16
    for (int c = 0; c < kNumVecs; ++c) {
      const VecPair pair =
          Elements::v_pair(tile.v[j / kLanes], j % kLanes / 2 * 2, dim + c * kLanes, head_dim);
      one[c] = j % 2 == 0 ? pair.lo : pair.hi;
    }
    add_key<kNumRows, kNumVecs>(weights + j, one, sum);
  };
  int64_t j = first;
  if (j % 2 != 0) {
    add_one(j);
    ++j;
  }
  while (j + 1 < end) {
    const int64_t group = j / kLanes;
    const int64_t stop = end / 2 * 2 < (group + 1) * kLanes ? end / 2 * 2 : (group + 1) * kLanes;
    const auto* v = tile.v[group];
    const auto* next = tile.next_v[group];
    for (; j < stop; j += 2) {
      Vec lo[kNumVecs];
      Vec hi[kNumVecs];
#pragma GCC unroll 16
      for (int c = 0; c < kNumVecs; ++c) {
        const VecPair pair = Elements::v_pair(v, j % kLanes, dim + c * kLanes, head_dim);
        lo[c] = pair.lo;
        hi[c] = pair.hi;
        if constexpr (kReadAhead) {
          Elements::v_ahead(next, j % kLanes, dim + c * kLanes, head_dim);
        }
      }
      add_key<kNumRows, kNumVecs>(weights + j, lo, sum);
      add_key<kNumRows, kNumVecs>(weights + j + 1, hi, sum);
    }
  }
  if (j < end) {
    add_one(j);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kNumRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kNumVecs; ++c) {
      store(out + r * head_dim + dim + c * kLanes, sum[r][c]);
    }
  }
}

}  // namespace

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
