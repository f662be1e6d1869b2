#include "attention/cpu_flash/rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

using flash::kLowest;
using flash::kSplit;
using flash::kTile;
using flash::Piece;

Scratch divide_scratch(float* memory, int64_t head_dim) {
  const auto take = [&](int64_t count) {
    float* piece = memory;
    memory += (count + kLanes - 1) / kLanes * kLanes;
    return piece;
  };
  Scratch scratch;
  scratch.q = take(flash::kMaxRows * head_dim);
  scratch.scores = take(kMaxTileRows * kTile);
  scratch.weights = take(kMaxTileRows * kWeightStride);
  scratch.k_tile = take(kTile * head_dim);
  scratch.v_tile = take(kTile * head_dim);
  scratch.split_sums = take(flash::kRowsPadded);
  scratch.split.max = take(flash::kRowsPadded);
  scratch.split.sum = take(flash::kRowsPadded * kLanes);
  scratch.split.out = take(flash::kMaxRows * head_dim);
  scratch.all.max = take(flash::kRowsPadded);
  scratch.all.sum = take(flash::kRowsPadded);
  scratch.all.out = take(flash::kMaxRows * head_dim);
  return scratch;
}

int64_t num_rows(const Piece& piece) {
  return piece.num_tokens * piece.ratio;
}

// The rows of each register tile side by side: [head_dim, rows], scaled.
void pack_q(const Piece& piece, float* packed) {
  const int64_t head_dim = piece.layer->head_dim;
  const float scale =
      piece.soft_cap > 0.0F ? piece.scale / piece.soft_cap : piece.scale * flash::kLog2e;
  for (int64_t row = 0; row < num_rows(piece);) {
    const int width = tile_rows(num_rows(piece) - row);
    for (int r = 0; r < width; ++r) {
      const int64_t token = (row + r) / piece.ratio;
      const float* q = piece.q + token * piece.token_stride + (row + r) % piece.ratio * head_dim;
      float* to = packed + row * head_dim + r;
      for (int64_t d = 0; d < head_dim; ++d) {
        to[d * width] = q[d] * scale;
      }
    }
    row += width;
  }
}

void reset(const State& state, int64_t rows, int64_t sums_per_row, int64_t head_dim) {
  for (int64_t row = 0; row < rows; ++row) {
    state.max[row] = kLowest;
  }
  __builtin_memset(state.sum, 0, sizeof(float) * static_cast<uint64_t>(rows * sums_per_row));
  __builtin_memset(state.out, 0, sizeof(float) * static_cast<uint64_t>(rows * head_dim));
}

// Memory that the next tile will be unpacked from, asked for while this one is worked on.
struct Ahead {
  const char* runs[2 * kGroups] = {};
  int num_runs = 0;
  int64_t run_bytes = 0;

  // The part of it that falls to rows [row, row + width) of `rows`.
  void ask(int64_t row, int64_t width, int64_t rows) const {
    constexpr int64_t kLine = 64;
    const int64_t end = run_bytes * (row + width) / rows;
    for (int idx = 0; idx < num_runs; ++idx) {
      for (int64_t at = run_bytes * row / rows / kLine * kLine; at < end; at += kLine) {
        read_ahead(runs[idx] + at);
      }
    }
  }
};

template <typename Elements, bool kReadAhead>
void attend_rows(
    const Piece& piece, const Scratch& scratch, const Tile<Elements>& tile, const Ahead& ahead
) {
  const int64_t rows = num_rows(piece);
  for (int64_t row = 0; row < rows;) {
    const int width = tile_rows(rows - row);
    ahead.ask(row, width, rows);
    if constexpr (kMaxTileRows == 8) {
      if (width == 8) {
        attend_tile<Elements, 8, kReadAhead>(piece, scratch, tile, row);
      }
    }
    if (width == 4) {
      attend_tile<Elements, 4, kReadAhead>(piece, scratch, tile, row);
    } else if (width == 2) {
      attend_tile<Elements, 2, kReadAhead>(piece, scratch, tile, row);
    } else if (width == 1) {
      attend_tile<Elements, 1, kReadAhead>(piece, scratch, tile, row);
    }
    row += width;
  }
}

// Where 16 keys' K or V begin, in elements from the KV head's piece of block 0.
int64_t offset_of_group(const Piece& piece, int64_t position) {
  const int64_t block_size = piece.layer->block_size;
  return piece.block_table[position / block_size] * piece.block_stride +
         piece.kv_head * piece.head_stride + position % block_size * piece.layer->head_dim;
}

// The groups of 16 keys, counted from position 0, that some row of the piece sees.
Span visible_groups(const Piece& piece) {
  const int64_t last_position = piece.first_position + piece.num_tokens - 1;
  return Span{
      flash::first_visible(piece.first_position, piece.window) / kLanes,
      last_position / kLanes + 1};
}

template <typename Elements>
void set_pointers(
    const Piece& piece,
    int64_t tile_first,
    Span groups,
    const typename Elements::Element** k,
    const typename Elements::Element** v
) {
  for (int64_t g = 0; g < kGroups; ++g) {
    const int64_t group = tile_first / kLanes + g;
    if (group >= groups.first && group < groups.end) {
      const int64_t offset = offset_of_group(piece, group * kLanes);
      k[g] = static_cast<const typename Elements::Element*>(piece.layer->k) + offset;
      v[g] = static_cast<const typename Elements::Element*>(piece.layer->v) + offset;
    }
  }
}

// Few rows: keys are read where they lie, and the next tile's are asked for meanwhile.
template <typename Elements>
void attend_in_place(const Piece& piece, const Scratch& scratch, int64_t tile_first, Span groups) {
  Tile<Elements> tile;
  tile.first = tile_first;
  set_pointers<Elements>(piece, tile_first, groups, tile.k, tile.v);
  for (int g = 0; g < kGroups; ++g) {
    tile.next_k[g] = tile.k[g];
    tile.next_v[g] = tile.v[g];
  }
  set_pointers<Elements>(piece, tile_first + kTile, groups, tile.next_k, tile.next_v);
  attend_rows<Elements, true>(piece, scratch, tile, Ahead());
}

template <typename Elements>
void unpack_group(const Piece& piece, int64_t position, int64_t to, const Scratch& scratch) {
  using Element = typename Elements::Element;
  const int64_t head_dim = piece.layer->head_dim;
  const int64_t offset = offset_of_group(piece, position);
  const Element* k = static_cast<const Element*>(piece.layer->k) + offset;
  const Element* v = static_cast<const Element*>(piece.layer->v) + offset;
  float* k_to = scratch.k_tile + to * head_dim;
  float* v_to = scratch.v_tile + to * head_dim;
  for (int64_t d = 0; d < head_dim; d += 2) {
    const VecPair pair = Elements::k_pair(k, d);
    store(k_to + d * kLanes, pair.lo);
    store(k_to + (d + 1) * kLanes, pair.hi);
  }
  for (int64_t j = 0; j < kKeyGroup; j += 2) {
    for (int64_t dim = 0; dim < head_dim; dim += kLanes) {
      const VecPair pair = Elements::v_pair(v, j, dim, head_dim);
      store(v_to + j * head_dim + dim, pair.lo);
      store(v_to + (j + 1) * head_dim + dim, pair.hi);
    }
  }
}

void unpack_f8_group(const Piece& piece, int64_t position, int64_t to, const Scratch& scratch) {
  const int64_t head_dim = piece.layer->head_dim;
  const int64_t offset = offset_of_group(piece, position);
  const uint8_t* k = static_cast<const uint8_t*>(piece.layer->k) + offset;
  const uint8_t* v = static_cast<const uint8_t*>(piece.layer->v) + offset;
  const int64_t block = piece.block_table[position / piece.layer->block_size];
  const float* scales =
      piece.layer->scales + (block * piece.layer->num_kv_heads + piece.kv_head) * 2;
  const Vec k_scale = splat(scales[0] * 0x1p120F);  // f8_scale() is 2^7 at most
  const Vec v_scale = splat(scales[1] * 0x1p120F);
  float* k_to = scratch.k_tile + to * head_dim;
  float* v_to = scratch.v_tile + to * head_dim;
  for (int64_t d = 0; d < head_dim; d += 4) {
    const VecQuad quad = load_f8_words(k + d * kLanes);
    for (int part = 0; part < 4; ++part) {
      store(k_to + (d + part) * kLanes, mul(quad.part[part], k_scale));
    }
  }
  for (int64_t j = 0; j < kKeyGroup; j += 4) {
    for (int64_t dim = 0; dim < head_dim; dim += kLanes) {
      const VecQuad quad = load_f8_words(v + j * head_dim + 4 * dim);
      for (int part = 0; part < 4; ++part) {
        store(v_to + (j + part) * head_dim + dim, mul(quad.part[part], v_scale));
      }
    }
  }
}

// Many rows, or a type that costs too much to read twice: a tile is turned into fp32 once.
void attend_unpacked(const Piece& piece, const Scratch& scratch, int64_t tile_first, Span groups) {
  Tile<F32Elements> tile;
  tile.first = tile_first;
  for (int64_t g = 0; g < kGroups; ++g) {
    const int64_t group = tile_first / kLanes + g;
    tile.k[g] = scratch.k_tile + g * kLanes * piece.layer->head_dim;
    tile.v[g] = scratch.v_tile + g * kLanes * piece.layer->head_dim;
    if (group < groups.first || group >= groups.end) {
      continue;
    }
    if (piece.layer->dtype == DType::kBF16) {
      unpack_group<Bf16Elements>(piece, group * kLanes, g * kLanes, scratch);
    } else if (piece.layer->dtype == DType::kF32) {
      unpack_group<F32Elements>(piece, group * kLanes, g * kLanes, scratch);
    } else {
      unpack_f8_group(piece, group * kLanes, g * kLanes, scratch);
    }
  }
  Ahead ahead;
  const int64_t element_bytes = piece.layer->dtype == DType::kF32    ? 4
                                : piece.layer->dtype == DType::kBF16 ? 2
                                                                     : 1;
  ahead.run_bytes = kLanes * piece.layer->head_dim * element_bytes;
  for (int64_t g = 0; g < kGroups; ++g) {
    const int64_t group = tile_first / kLanes + kGroups + g;
    if (group >= groups.first && group < groups.end) {
      const int64_t offset = offset_of_group(piece, group * kLanes) * element_bytes;
      ahead.runs[ahead.num_runs++] = static_cast<const char*>(piece.layer->k) + offset;
      ahead.runs[ahead.num_runs++] = static_cast<const char*>(piece.layer->v) + offset;
    }
  }
  attend_rows<F32Elements, false>(piece, scratch, tile, ahead);
}

// Takes one split into what is known of the splits before. `sum`: one float a row.
void merge_split(
    const State& all,
    const float* max_of_split,
    const float* sum,
    const float* out,
    int64_t rows,
    int64_t head_dim
) {
  for (int64_t row = 0; row < rows; ++row) {
    if (max_of_split[row] == kLowest) {
      continue;
    }
    const Vec old_max = splat(all.max[row]);
    const Vec split_max = splat(max_of_split[row]);
    const Vec new_max = max(old_max, split_max);
    const Vec a = exp2(sub(old_max, new_max));
    const Vec b = exp2(sub(split_max, new_max));
    store_first(all.max + row, new_max, 1);
    store_first(all.sum + row, fma(b, splat(sum[row]), mul(splat(all.sum[row]), a)), 1);
    float* to = all.out + row * head_dim;
    for (int64_t d = 0; d < head_dim; d += kLanes) {
      store(to + d, fma(b, load(out + row * head_dim + d), mul(load(to + d), a)));
    }
  }
}

void finish(const Piece& piece, const State& all) {
  const int64_t head_dim = piece.layer->head_dim;
  for (int64_t row = 0; row < num_rows(piece); ++row) {
    const int64_t head = row % piece.ratio;
    float* out = piece.out + row / piece.ratio * piece.token_stride + head * head_dim;
    const float* from = all.out + row * head_dim;
    Vec factor = splat(1.0F);
    Vec sum = splat(all.sum[row]);
    if (piece.sinks != nullptr) {
      const Vec sink = splat(piece.sinks[head] * flash::kLog2e);
      const Vec old_max = splat(all.max[row]);
      const Vec new_max = max(old_max, sink);
      factor = exp2(sub(old_max, new_max));
      sum = fma(sum, factor, exp2(sub(sink, new_max)));
    }
    float total[kLanes];
    store(total, sum);
    for (int64_t d = 0; d < head_dim; d += kLanes) {
      const Vec value = mul(load(from + d), factor);
      store(out + d, total[0] == 0.0F ? splat(0.0F) : div(value, sum));
    }
  }
}

void attend(const Piece& piece) {
  const int64_t head_dim = piece.layer->head_dim;
  const int64_t rows = num_rows(piece);
  const Scratch scratch = divide_scratch(piece.scratch, head_dim);
  const Span groups = visible_groups(piece);
  const bool in_place = rows <= 2 * kMaxTileRows && piece.layer->dtype != DType::kF8E4M3;
  pack_q(piece, scratch.q);
  reset(scratch.all, rows, 1, head_dim);
  for (int64_t split = piece.first_split; split < piece.end_split; ++split) {
    reset(scratch.split, rows, kLanes, head_dim);
    for (int64_t tile = split * kSplit; tile < (split + 1) * kSplit; tile += kTile) {
      if ((tile + kTile) / kLanes <= groups.first || tile / kLanes >= groups.end) {
        continue;
      }
      if (!in_place) {
        attend_unpacked(piece, scratch, tile, groups);
      } else if (piece.layer->dtype == DType::kBF16) {
        attend_in_place<Bf16Elements>(piece, scratch, tile, groups);
      } else {
        attend_in_place<F32Elements>(piece, scratch, tile, groups);
      }
    }
    float* maxima = scratch.split.max;
    float* sums = scratch.split_sums;
    float* out = scratch.split.out;
    if (piece.partials != nullptr) {
      float* partial =
          piece.partials + (split - piece.first_split) * flash::partial_floats(rows, head_dim);
      const uint64_t row_bytes = sizeof(float) * static_cast<uint64_t>(rows);
      __builtin_memcpy(partial, maxima, row_bytes);
      __builtin_memcpy(partial + 2 * rows, out, row_bytes * static_cast<uint64_t>(head_dim));
      sums = partial + rows;
    }
    for (int64_t row = 0; row < rows; ++row) {
      sums[row] = joined(load(scratch.split.sum + row * kLanes));
    }
    if (piece.partials == nullptr) {
      merge_split(scratch.all, maxima, sums, out, rows, head_dim);
    }
  }
  if (piece.partials == nullptr) {
    finish(piece, scratch.all);
  }
}

void merge(const Piece& piece) {
  const int64_t head_dim = piece.layer->head_dim;
  const int64_t rows = num_rows(piece);
  const Scratch scratch = divide_scratch(piece.scratch, head_dim);
  reset(scratch.all, rows, 1, head_dim);
  for (int64_t split = piece.first_split; split < piece.end_split; ++split) {
    const float* partial =
        piece.partials + (split - piece.first_split) * flash::partial_floats(rows, head_dim);
    merge_split(scratch.all, partial, partial + rows, partial + 2 * rows, rows, head_dim);
  }
  finish(piece, scratch.all);
}

}  // namespace

extern const flash::Kernels kFlashKernels;
const flash::Kernels kFlashKernels = {.attend = attend, .merge = merge};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
