#pragma once

// One tile of keys for up to eight query rows: masks, online softmax and the two products. Included
// only by files that are compiled once for each CPU level.

#include "attention/cpu_flash/tile_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

// What is known of a piece's rows after some keys. `sum` may have one float a row, or 16 partial
// ones.
struct State {
  float* max;  // [rows]
  float* sum;  // [rows] or [rows, 16]
  float* out;  // [rows, head_dim]
};

struct Scratch {
  float* q;        // [rows, head_dim], packed by pack_q()
  float* scores;   // [8, kTile]
  float* weights;  // [8, kWeightStride]
  float* k_tile;   // [kTile * head_dim], laid out as F32 in the cache
  float* v_tile;
  float* split_sums;  // [rows]
  State split;        // of the split under way, 16 partial sums
  State all;          // of the splits before
};

// Rows are taken 8, 4, 2 or 1 at a time (AVX2: 4, 2, 1).
int tile_rows(int64_t rows_left) {
  int num_rows = kMaxTileRows;
  while (num_rows > rows_left) {
    num_rows /= 2;
  }
  return num_rows;
}

// The keys that row `row_idx` sees of a tile, counted from the tile's first.
struct Span {
  int64_t first = 0;
  int64_t end = 0;
};

int64_t clamp_to_tile(int64_t j) {
  return j < 0 ? 0 : j > flash::kTile ? flash::kTile : j;
}

Span visible(const flash::Piece& piece, int64_t row_idx, int64_t tile_first) {
  const int64_t position = piece.first_position + row_idx / piece.ratio;
  return Span{
      clamp_to_tile(flash::first_visible(position, piece.window) - tile_first),
      clamp_to_tile(position + 1 - tile_first)};
}

void soft_cap_scores(float cap, float* scores, int64_t first_group, int64_t end_group) {
  for (int64_t group = first_group; group < end_group; ++group) {
    const Vec x = load(scores + group * kLanes);
    const Vec zero = splat(0.0F);
    const Vec e = exp2(mul(max(x, sub(zero, x)), splat(-2.0F * flash::kLog2e)));
    const Vec t = div(sub(splat(1.0F), e), add(splat(1.0F), e));
    const Vec capped = select_less(x, zero, sub(zero, t), t);
    store(scores + group * kLanes, mul(capped, splat(cap * flash::kLog2e)));
  }
}

void mask_scores(Span span, float* scores, int64_t first_group, int64_t end_group) {
  for (int64_t group = first_group; group < end_group; ++group) {
    const int64_t begin = group * kLanes;
    if (span.first <= begin && span.end >= begin + kLanes) {
      continue;
    }
    const int64_t first = span.first < begin ? 0 : span.first - begin;
    const int64_t end = span.end > begin + kLanes ? kLanes : span.end - begin;
    const Vec kept = first < end && first < kLanes
                         ? keep_lanes(load(scores + begin), first, end, -__builtin_inff())
                         : splat(-__builtin_inff());
    store(scores + begin, kept);
  }
}

template <typename Elements, int kNumRows, bool kReadAhead>
inline void add_values_of_all_dims(
    const float* weights,
    const Tile<Elements>& tile,
    Span span,
    int64_t head_dim,
    const float* factors,
    float* out
) {
  constexpr int kNumVecs = vectors_for(kNumRows);
  int64_t dim = 0;
  for (; dim + kNumVecs * kLanes <= head_dim; dim += kNumVecs * kLanes) {
    add_values<Elements, kNumRows, kNumVecs, kReadAhead>(
        weights, tile, span.first, span.end, dim, head_dim, factors, out
    );
  }
  for (; dim < head_dim; dim += kLanes) {
    add_values<Elements, kNumRows, 1, kReadAhead>(
        weights, tile, span.first, span.end, dim, head_dim, factors, out
    );
  }
}

// The values of the keys that each row sees and of no others: what it does not see may be NaN.
template <typename Elements, int kNumRows, bool kReadAhead>
inline void add_visible_values(
    const float* weights,
    const Tile<Elements>& tile,
    const Span (&spans)[kNumRows],
    int64_t head_dim,
    const float* factors,
    float* out
) {
  // Positions do not fall from row to row, so neither do the ends of what they see.
  const Span common = {spans[kNumRows - 1].first, spans[0].end};
  const bool has_common = common.first < common.end;
  constexpr float kOne[1] = {1.0F};
  const auto add_row = [&](int r, Span span, const float* factor) {
    if (span.first < span.end) {
      add_values_of_all_dims<Elements, 1, false>(
          weights + r * kWeightStride, tile, span, head_dim, factor, out + r * head_dim
      );
    }
  };
  float left[kNumRows];
  for (int r = 0; r < kNumRows; ++r) {
    left[r] = factors[r];
    if (!has_common) {
      add_row(r, spans[r], factors + r);
    } else if (spans[r].first < common.first) {
      add_row(r, {spans[r].first, common.first}, factors + r);
      left[r] = 1.0F;
    }
  }
  if (!has_common) {
    return;
  }
  add_values_of_all_dims<Elements, kNumRows, kReadAhead>(
      weights, tile, common, head_dim, left, out
  );
  for (int r = 0; r < kNumRows; ++r) {
    add_row(r, {common.end, spans[r].end}, kOne);
  }
}

// The scores of rows against the groups of 16 keys [first_group, end_group) of a tile.
template <typename Elements, int kNumRows, bool kReadAhead>
inline void score_tile(
    const float* q,
    const Tile<Elements>& tile,
    int64_t first_group,
    int64_t end_group,
    int64_t head_dim,
    float* scores
) {
  constexpr int kNumVecs = vectors_for(kNumRows);
  int64_t group = first_group;
  for (; group + kNumVecs <= end_group; group += kNumVecs) {
    score_groups<Elements, kNumRows, kNumVecs, kReadAhead>(q, tile, group, head_dim, scores);
  }
  for (; group < end_group; ++group) {
    score_groups<Elements, kNumRows, 1, kReadAhead>(q, tile, group, head_dim, scores);
  }
}

// Takes the scores of a tile into the rows' maxima and sums: scratch.weights gets the weights,
// `factors` what the outputs so far are to be multiplied by.
template <int kNumRows>
[[gnu::always_inline]] inline void weigh_tile(
    const Scratch& scratch, int64_t row, int64_t first_group, int64_t end_group, float* factors
) {
  const State& state = scratch.split;
  float maxima[kLanes];
  store(maxima, splat(flash::kLowest));
  for (int r = 0; r < kNumRows; ++r) {
    const float* scores = scratch.scores + r * flash::kTile;
    Vec greatest = load(scores + first_group * kLanes);
    for (int64_t group = first_group + 1; group < end_group; ++group) {
      greatest = max(greatest, load(scores + group * kLanes));
    }
    maxima[r] = max_lanes(greatest);
  }
  const Vec old_max = load(state.max + row);
  const Vec new_max = max(old_max, load(maxima));
  store(maxima, new_max);
  store(factors, exp2(sub(old_max, new_max)));
  for (int r = 0; r < kNumRows; ++r) {
    const float* scores = scratch.scores + r * flash::kTile;
    float* weights = scratch.weights + r * kWeightStride;
    float* sums = state.sum + (row + r) * kLanes;
    state.max[row + r] = maxima[r];
    const Vec max_score = splat(maxima[r]);
    Vec sum = mul(load(sums), splat(factors[r]));
#pragma GCC unroll 4
    for (int64_t group = first_group; group < end_group; ++group) {
      const Vec weight = exp2(sub(load(scores + group * kLanes), max_score));
      store(weights + group * kLanes, weight);
      sum = add(sum, weight);
    }
    store(sums, sum);
  }
}

// Rows [row, row + kNumRows) of the piece against one tile.
template <typename Elements, int kNumRows, bool kReadAhead>
void attend_tile(
    const flash::Piece& piece, const Scratch& scratch, const Tile<Elements>& tile, int64_t row
) {
  const int64_t head_dim = piece.layer->head_dim;
  const float* q = scratch.q + row * head_dim;
  float* out = scratch.split.out + row * head_dim;
  float factors[kLanes];
  // Positions do not fall from row to row: the first row ends first, the last one begins last.
  const Span first_span = visible(piece, row, tile.first);
  const Span last_span = visible(piece, row + kNumRows - 1, tile.first);
  if (last_span.first == 0 && first_span.end == flash::kTile) {
    // All rows see all keys: by far the most frequent case, with constant bounds.
    score_tile<Elements, kNumRows, kReadAhead>(q, tile, 0, kGroups, head_dim, scratch.scores);
    if (piece.soft_cap > 0.0F) {
      for (int r = 0; r < kNumRows; ++r) {
        soft_cap_scores(piece.soft_cap, scratch.scores + r * flash::kTile, 0, kGroups);
      }
    }
    weigh_tile<kNumRows>(scratch, row, 0, kGroups, factors);
    add_values_of_all_dims<Elements, kNumRows, kReadAhead>(
        scratch.weights, tile, {0, flash::kTile}, head_dim, factors, out
    );
    return;
  }
  if (first_span.first >= last_span.end) {
    return;
  }
  const int64_t first_group = first_span.first / kLanes;
  const int64_t end_group = (last_span.end + kLanes - 1) / kLanes;
  score_tile<Elements, kNumRows, kReadAhead>(
      q, tile, first_group, end_group, head_dim, scratch.scores
  );
  Span spans[kNumRows];
  for (int r = 0; r < kNumRows; ++r) {
    float* scores = scratch.scores + r * flash::kTile;
    if (piece.soft_cap > 0.0F) {
      soft_cap_scores(piece.soft_cap, scores, first_group, end_group);
    }
    spans[r] = visible(piece, row + r, tile.first);
    mask_scores(spans[r], scores, first_group, end_group);
  }
  weigh_tile<kNumRows>(scratch, row, first_group, end_group, factors);
  add_visible_values<Elements, kNumRows, kReadAhead>(
      scratch.weights, tile, spans, head_dim, factors, out
  );
}

}  // namespace

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
