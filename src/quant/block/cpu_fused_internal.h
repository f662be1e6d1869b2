#pragma once

// The integer multiply of block formats, for files that are compiled once a CPU level (see
// kernels/cpu/vec.h for what such files may use). quant/README.md has drawings.
//
// 32 output features are a strip: 16 even ones in the lanes of one register, and 16 odd ones in
// another, a "half" each. A format brings `Rows`, which reads the blocks of the 16 rows of a half,
// and `Dots` (cpu_bytes_internal.h, cpu_pairs_internal.h), which multiplies them:
//
//   few input rows    each block is unpacked into registers and multiplied with all of them
//   many              the half is unpacked into a tile, and the tile is multiplied with a few input
//                     rows at a time, whose sums stay in registers

#include "kernels/cpu/ivec.h"
#include "kernels/cpu/swiglu.h"
#include "quant/block/matrix_internal.h"
#include "quant/packed_input.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

inline constexpr int64_t kMaxItemRows = 256;
inline constexpr int kBlockQuads = 8;
inline constexpr int64_t kTileBlocks = 128;  // depth of a tile: longer rows take several passes

// The rows of one half in the checkpoint's layout or in a prepared piece.
struct HalfRows {
  const uint8_t* codes = nullptr;
  const uint8_t* scales = nullptr;
  int64_t codes_stride = 0;
  int64_t scales_stride = 0;
  // Reading fetches, in step, as many bytes from here on: what comes next, or else what is read.
  const uint8_t* next = nullptr;
};

// Half a prepared piece: the codes of all stored blocks, and then their scales.
static inline HalfRows place_prepared_half(
    const uint8_t* piece,
    int64_t half,
    int64_t num_stored,
    int64_t codes_bytes,
    int64_t scales_bytes
) {
  const int64_t half_bytes = (num_stored * (codes_bytes + scales_bytes) + 63) / 64 * 64;
  const uint8_t* codes = piece + half * half_bytes;
  return {codes, codes + num_stored * codes_bytes, 0, 0};
}

// Asks for kLines lines of memory to come into the first-level cache.
template <int kLines>
[[gnu::always_inline]] static inline void fetch(const uint8_t* p) {
#pragma GCC unroll 17
  for (int line = 0; line < kLines; ++line) {
    __builtin_prefetch(p + line * 64, 0, 3);
  }
}

// Whether `Rows` says how many bytes a block of its 16 rows takes.
template <typename Rows>
constexpr bool knows_fetch_bytes() {
  return requires {
    Rows::kFetchBytes;
  };
}

template <typename Rows>
constexpr int64_t turned_bytes() {
  if constexpr (requires { Rows::kTurnedBytes; }) {
    return Rows::kTurnedBytes;
  }
  return 1;
}

// Calls function(block, quads, factors) for each block of a half: `quads` is 32 inputs of 16 rows
// as Dots wants them, and `factors` are kFactors registers: the scale (two, where each 16 inputs
// have their own), and then the min, where the format has one. `Rows` has
//   kGroup                                    blocks whose factors are read at once
//   kFetchBytes                               of a block of all rows; reading a block fetches that
//                                             much of what comes next
//   load_scales(half, block, count, factors)  of a group, whose last may be shorter
//   load_quads(half, block, quads)
// or, in the place of kFetchBytes, fetch_next(half, block), what a group's reading fetches. Even
// fetches matter: a core waits when it has asked for more than some twenty lines. With kFetches
// false the caller fetches. Where reading a group takes several steps over the same bytes, Rows has
//   turn(half, block, to)                     writes the group to `to`, kTurnedBytes of it, and
//                                             returns it as a half, from which the others then read
template <typename Rows, int kFactors, bool kFetches = true, typename Function>
[[gnu::always_inline]] static inline void for_each_block(
    const HalfRows& half, int64_t first_block, int64_t num_blocks, const Function& function
) {
  for (int64_t block = 0; block < num_blocks; block += Rows::kGroup) {
    const int64_t left = num_blocks - block;
    const int64_t count = left < Rows::kGroup ? left : Rows::kGroup;
    if constexpr (kFetches && !knows_fetch_bytes<Rows>()) {
      Rows::fetch_next(half, first_block + block);
    }
    HalfRows from = half;
    int64_t first = first_block + block;
    [[maybe_unused]] alignas(64) uint8_t turned[turned_bytes<Rows>()];
    if constexpr (turned_bytes<Rows>() > 1) {
      from = Rows::turn(half, first, turned);
      first = 0;
    }
    Vec factors[Rows::kGroup * kFactors];
    Rows::load_scales(from, first, count, factors);
    for (int64_t idx = 0; idx < count; ++idx) {
      if constexpr (kFetches && knows_fetch_bytes<Rows>()) {
        constexpr int64_t kBytes = Rows::kFetchBytes;
        fetch<(kBytes + 63) / 64>(half.next + (first_block + block + idx) * kBytes);
      }
      IVec quads[kBlockQuads];
      Rows::load_quads(from, first + idx, quads);
      function(block + idx, quads, factors + idx * kFactors);
    }
  }
}

// What the multiplying of a tile fetches: a few lines for each block.
struct Ahead {
  const uint8_t* from = nullptr;
  int64_t num_lines = 0;

  [[gnu::always_inline]] inline void fetch_lines(int64_t block) const {
    const uint8_t* p = from + block * num_lines * 64;
    for (int64_t line = 0; line < num_lines; ++line) {
      __builtin_prefetch(p + line * 64, 0, 2);
    }
  }
};

// Spreads the fetching of what follows two halves over the multiplies of a tile.
struct AheadPlan {
  const uint8_t* from[2] = {};
  int64_t lines_in_half = 0;
  int64_t lines_per_block = 0;
  int64_t num_fetched = 0;

  inline Ahead take(int64_t num_blocks) {
    const int64_t half = num_fetched < lines_in_half ? 0 : 1;
    const int64_t line = num_fetched - half * lines_in_half;
    if (line >= lines_in_half) {
      return {};
    }
    num_fetched += lines_per_block * num_blocks;
    return {from[half] + line * 64, lines_per_block};
  }
};

// The part of an item that is the same for all its blocks.
struct FusedItem {
  const uint8_t* inputs[kMaxItemRows];                // packed rows
  alignas(64) float sums[kMaxItemRows * 2 * kLanes];  // [row][half][lane]
  int64_t num_rows = 0;
};

// Lane l of half h is feature `first` + 2 * l + h. Where a matrix in the checkpoint's layout ends
// within an item, `first` lies before the item's first feature, and the lanes of features that are
// not the item's are skipped.
struct LaneMap {
  int64_t first = 0;
  int64_t skipped_lanes = 0;
  int64_t num_lanes = 0;
};

static inline LaneMap map_lanes(int64_t num_rows, int64_t first_feature, int64_t end_feature) {
  const int64_t last_first = num_rows / 2 * 2 - 2 * kLanes;
  LaneMap map;
  map.first = first_feature < last_first ? first_feature : last_first;
  map.skipped_lanes = (first_feature - map.first) / 2;
  map.num_lanes = (end_feature - first_feature) / 2;
  return map;
}

// Every second of the biases that belong to lanes.
static inline Vec load_bias(const float* bias, const LaneMap& map) {
  float lanes[kLanes] = {};
  for (int64_t lane = map.skipped_lanes; lane < map.skipped_lanes + map.num_lanes; ++lane) {
    lanes[lane] = bias[2 * lane];
  }
  return load(lanes);
}

// Bias and activation, and the way out.
static inline void finish_item(
    const FusedItem& item, const LaneMap& map, const float* bias, const MultiplyRows& rows
) {
  const bool is_whole = map.num_lanes == kLanes;
  Vec even_bias = splat(0.0F);
  Vec odd_bias = even_bias;
  if (bias != nullptr && is_whole) {
    load_pairs(bias + map.first, even_bias, odd_bias);
  } else if (bias != nullptr) {
    even_bias = load_bias(bias + map.first, map);
    odd_bias = load_bias(bias + map.first + 1, map);
  }
  const int64_t end_lane = map.skipped_lanes + map.num_lanes;
  for (int64_t row = 0; row < item.num_rows; ++row) {
    Vec even = load(item.sums + row * 2 * kLanes);
    Vec odd = load(item.sums + row * 2 * kLanes + kLanes);
    if (bias != nullptr) {
      even = add(even, even_bias);
      odd = add(odd, odd_bias);
    }
    float* y = rows.y + (rows.first_row + row) * rows.y_stride;
    if (rows.is_swiglu) {
      y += map.first / 2;
      const Vec activated = clamped_swiglu(even, odd, rows.alpha, rows.limit, rows.up_offset);
      if (is_whole) {
        store(y, activated);
        continue;
      }
      float lanes[kLanes];
      store(lanes, activated);
      for (int64_t lane = map.skipped_lanes; lane < end_lane; ++lane) {
        y[lane] = lanes[lane];
      }
      continue;
    }
    y += map.first;
    if (is_whole) {
      store_alternating(y, even, odd);
      continue;
    }
    float lanes[2 * kLanes];
    store_alternating(lanes, even, odd);
    for (int64_t lane = 2 * map.skipped_lanes; lane < 2 * end_lane; ++lane) {
      y[lane] = lanes[lane];
    }
  }
}

// num_rows rows from `first` on, kCount at a time.
template <typename Dots, int kCount, int kHalves, bool kIsI16>
static inline void multiply_tile(
    FusedItem& item,
    int64_t first,
    int64_t num_rows,
    int half,
    int64_t offset,
    const uint8_t* tile,
    int64_t tile_bytes,
    int64_t num_blocks,
    AheadPlan& ahead
) {
  for (; num_rows >= kCount; num_rows -= kCount, first += kCount) {
    const uint8_t* inputs[kCount];
    for (int idx = 0; idx < kCount; ++idx) {
      inputs[idx] = item.inputs[first + idx] + offset;
    }
    float* sums = item.sums + first * 2 * kLanes + half * kLanes;
    Dots::template multiply_tile<kCount, kHalves, kIsI16>(
        tile, tile_bytes, num_blocks, inputs, sums, ahead.take(num_blocks)
    );
  }
  if constexpr (kCount > 1) {
    if (num_rows > 0) {
      multiply_tile<Dots, kCount - 1, kHalves, kIsI16>(
          item, first, num_rows, half, offset, tile, tile_bytes, num_blocks, ahead
      );
    }
  }
}

// All rows at once, straight from the blocks; kCount is item.num_rows.
template <typename Rows, typename Dots, int kCount, bool kIsI16>
static inline void multiply_few(
    FusedItem& item, int64_t offset, const HalfRows* halves, int64_t first_block, int64_t num_blocks
) {
  if constexpr (kCount > 1) {
    if (item.num_rows < kCount) {
      multiply_few<Rows, Dots, kCount - 1, kIsI16>(item, offset, halves, first_block, num_blocks);
      return;
    }
  }
  for (int half = 0; half < 2; ++half) {
    Dots::template multiply_few<Rows, kCount, kIsI16>(
        halves[half], first_block, num_blocks, item.inputs, offset, item.sums + half * kLanes
    );
  }
}

template <typename Rows, typename Dots, bool kIsI16>
static inline void multiply_item(FusedItem& item, const HalfRows* halves, int64_t num_blocks) {
  constexpr int64_t kBlockBytes = kIsI16 ? kPackedI16Bytes : kPackedI8Bytes;
  for (int64_t block = 0; block < num_blocks; block += kTileBlocks) {
    const int64_t count = num_blocks - block < kTileBlocks ? num_blocks - block : kTileBlocks;
    const int64_t offset = block * kBlockBytes;
    if (item.num_rows <= Dots::kFewRows) {
      multiply_few<Rows, Dots, Dots::kFewRows, kIsI16>(item, offset, halves, block, count);
      continue;
    }
    constexpr int64_t kTileBytes = kTileBlocks * Dots::kTileBlockBytes;
    alignas(64) uint8_t tile[Dots::kHalves * kTileBytes];
    AheadPlan ahead;
    if constexpr (knows_fetch_bytes<Rows>()) {
      const int64_t num_multiplies =
          (item.num_rows + Dots::kRowsAtOnce - 1) / Dots::kRowsAtOnce * 2 / Dots::kHalves;
      ahead.lines_in_half = (count * Rows::kFetchBytes + 63) / 64;
      ahead.lines_per_block =
          (2 * ahead.lines_in_half + num_multiplies * count - 1) / (num_multiplies * count);
      for (int half = 0; half < 2; ++half) {
        ahead.from[half] = halves[half].next + block * Rows::kFetchBytes;
      }
    }
    for (int half = 0; half < 2; half += Dots::kHalves) {
      for (int idx = 0; idx < Dots::kHalves; ++idx) {
        Dots::template unpack<Rows>(halves[half + idx], block, count, tile + idx * kTileBytes);
      }
      const auto multiply = [&]<typename TileDots>() {
        multiply_tile<TileDots, Dots::kRowsAtOnce, Dots::kHalves, kIsI16>(
            item, 0, item.num_rows, half, offset, tile, kTileBytes, count, ahead
        );
      };
      if constexpr (!kIsI16 && requires { typename Dots::PowerScales; }) {
        bool fits = true;
        for (int idx = 0; idx < Dots::kHalves; ++idx) {
          fits = fits && Dots::PowerScales::fits(tile + idx * kTileBytes, count);
        }
        if (fits) {
          multiply.template operator()<typename Dots::PowerScales>();
          continue;
        }
      }
      multiply.template operator()<Dots>();
    }
  }
}

// The halves of the 32 features from `first_feature` on, and their lanes.
template <typename Format>
static inline LaneMap place_halves(
    const BlockMatrix& matrix, int64_t first_feature, int64_t end_feature, HalfRows* halves
) {
  if (matrix.pieces != nullptr) {
    const uint8_t* piece = matrix.pieces + first_feature / (2 * kLanes) * matrix.piece_bytes;
    for (int half = 0; half < 2; ++half) {
      halves[half] = Format::prepared_half(piece, half, matrix.num_blocks);
      halves[half].next = halves[half].codes;
    }
    return {first_feature, 0, (end_feature - first_feature) / 2};
  }
  const LaneMap map = map_lanes(matrix.num_rows, first_feature, end_feature);
  for (int half = 0; half < 2; ++half) {
    halves[half].codes = matrix.codes[half] + map.first / 2 * matrix.codes_stride;
    halves[half].scales = matrix.scales[half] + map.first / 2 * matrix.scales_stride;
    halves[half].codes_stride = matrix.codes_stride;
    halves[half].scales_stride = matrix.scales_stride;
    // Two tensors are read in parallel; of one, each half fetches half of the rows.
    const int64_t distance = matrix.codes[1] - matrix.codes[0];
    halves[half].next = halves[half].codes;
    if (half == 1 && 2 * distance == matrix.codes_stride) {
      halves[half].next = halves[0].codes + kLanes * distance;
    }
  }
  return map;
}

template <typename Format, typename Rows>
static inline void multiply_halves(
    FusedItem& item, const HalfRows* halves, int64_t num_blocks, LinearMode mode
) {
  if (mode == LinearMode::kI16) {
    multiply_item<Rows, typename Format::Dots, true>(item, halves, num_blocks);
  } else {
    multiply_item<Rows, typename Format::Dots, false>(item, halves, num_blocks);
  }
}

// `Format` has the types Rows (checkpoint), PreparedRows and Dots, and
// prepared_half(piece, half, num_blocks).
template <typename Format>
static inline void multiply_blocks(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  constexpr int64_t kStrip = 2 * kLanes;
  FusedItem item;
  item.num_rows = rows.num_rows;
  for (int64_t row = 0; row < rows.num_rows; ++row) {
    const int64_t y_row = rows.first_row + row;
    const int64_t input_row = rows.input_rows == nullptr ? y_row : rows.input_rows[y_row];
    item.inputs[row] = rows.packed + input_row * rows.packed_stride;
  }
  for (int64_t feature = first_feature; feature < end_feature; feature += kStrip) {
    const int64_t end = end_feature - feature < kStrip ? end_feature : feature + kStrip;
    HalfRows halves[2];
    const LaneMap map = place_halves<Format>(matrix, feature, end, halves);
    const BlockMatrix* next_matrix = end < end_feature ? &matrix : matrix.next;
    if (next_matrix != nullptr) {
      HalfRows next[2];
      const int64_t next_row = end < end_feature ? end : matrix.next_row;
      place_halves<Format>(*next_matrix, next_row, next_row, next);
      halves[0].next = next[0].next;
      halves[1].next = next[1].next;
    }
    if (bias != nullptr) {
      // Nothing else reads these lines, and finish_item() would wait for memory.
      fetch<2 * kLanes * sizeof(float) / 64>(reinterpret_cast<const uint8_t*>(bias + map.first));
    }
    __builtin_memset(item.sums, 0, sizeof(float) * kStrip * static_cast<uint64_t>(rows.num_rows));
    if (matrix.pieces != nullptr) {
      multiply_halves<Format, typename Format::PreparedRows>(
          item, halves, matrix.num_blocks, rows.mode
      );
    } else {
      multiply_halves<Format, typename Format::Rows>(item, halves, matrix.num_blocks, rows.mode);
    }
    finish_item(item, map, bias, rows);
  }
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
