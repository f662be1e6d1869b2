#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/thread_pool.h"
#include "quant/linear_method.h"
#include "quant/multiply_rows_internal.h"

namespace rapt {

// All that a multiply is given.
struct MultiplyCall {
  const Stream& stream;
  const PackedInput& input;
  std::span<const std::int32_t> input_rows;
  std::span<const RowGroup> groups;
  Tensor y;
  const ClampedSwiglu* activation = nullptr;  // null: none follows
};

// The most output features of an item, an even number, and its most rows: enough that a weight that
// was decoded once serves many rows, and little enough that no item takes long.
inline constexpr std::int64_t kItemFeatures = 32;
inline constexpr std::int64_t kItemRows = 256;

// Rows of a group, on average, at which reading the weights takes longer than multiplying.
inline constexpr std::int64_t kFewRows = 8;

// What a thread will most likely read next.
struct NextStrip {
  std::int32_t matrix = -1;  // -1: nothing
  std::int64_t first_feature = 0;
};

// Cuts a multiply into items of up to kItemRows rows of one group and kItemFeatures output
// features, and runs body(matrix, first_feature, end_feature, rows, next) for each on the pool.
// With few rows and much work, an item may be `max_strips` times as wide. next() guesses the
// NextStrip of the thread that calls it at the start of the last strip of an item.
template <typename Body>
void for_each_multiply_item(
    const MultiplyCall& call, std::int64_t out_features, std::int64_t max_strips, Body&& body
) {
  const bool is_swiglu = call.activation != nullptr;
  CHECK(call.y.size(1) == (is_swiglu ? out_features / 2 : out_features));
  MultiplyRows rows = {
      .x = call.input.x.f32(),
      .x_stride = call.input.x.size(1),
      .mode = call.input.mode,
      .packed = call.input.blocks,
      .packed_stride = packed_row_bytes(call.input.x.size(1), call.input.mode),
      .input_rows = call.input_rows.empty() ? nullptr : call.input_rows.data(),
      .y = call.y.f32(),
      .y_stride = call.y.size(1),
      .is_swiglu = is_swiglu,
      .alpha = is_swiglu ? call.activation->alpha : 0.0F,
      .limit = is_swiglu ? call.activation->limit : 0.0F,
      .up_offset = is_swiglu ? call.activation->up_offset : 0.0F,
  };
  const auto chunks_of = [](const RowGroup& group) {
    return (group.count + kItemRows - 1) / kItemRows;
  };
  std::int64_t num_chunks = 0;
  std::int64_t num_rows = 0;
  for (const RowGroup& group : call.groups) {
    num_chunks += chunks_of(group);
    num_rows += group.count;
  }
  std::int64_t features = kItemFeatures;
  if (num_rows <= kFewRows * num_chunks) {
    // Some twenty items for each thread even out what the machine takes away.
    const std::int64_t wanted_items = std::int64_t{20} * call.stream.pool->num_threads();
    const std::int64_t strips = num_chunks * out_features / (kItemFeatures * wanted_items);
    features *= std::clamp<std::int64_t>(strips, 1, max_strips);
  }
  const std::int64_t num_strips = (out_features + features - 1) / features;

  struct Place {
    const RowGroup* group;
    std::int64_t first_row;  // within the group
    std::int64_t first_feature;
  };

  const auto place_of = [&](std::int64_t item) {
    std::int64_t chunk = item / num_strips;
    const RowGroup* group = call.groups.data();
    while (chunk >= chunks_of(*group)) {
      chunk -= chunks_of(*group);
      ++group;
    }
    return Place{group, chunk * kItemRows, item % num_strips * features};
  };
  ThreadPool& pool = *call.stream.pool;
  const std::int64_t num_items = num_chunks * num_strips;
  // How many items the other threads will have taken when this one is done with a strip.
  const std::int64_t num_overtaking = (pool.num_threads() - 1) * kItemFeatures / features;
  const auto next = [&] {
    const std::int64_t item = pool.next_piece() + num_overtaking;
    if (item >= num_items) {
      return NextStrip{};
    }
    const Place place = place_of(item);
    return NextStrip{place.group->matrix, place.first_feature};
  };
  const auto run_item = [&](std::int64_t item) {
    const Place place = place_of(item);
    MultiplyRows item_rows = rows;
    item_rows.first_row = place.group->first + place.first_row;
    item_rows.num_rows = std::min<std::int64_t>(place.group->count - place.first_row, kItemRows);
    const std::int64_t end_feature = std::min(place.first_feature + features, out_features);
    body(place.group->matrix, place.first_feature, end_feature, item_rows, next);
  };
  pool.parallel_for(num_items, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      run_item(item);
    }
  });
}

// Runs multiply(rows) for an item of a kernel that knows nothing of activations; one that follows
// is computed from a scratch copy of a few rows.
template <typename Multiply>
void multiply_then_activate(
    CpuLevel level,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows,
    Multiply&& multiply
) {
  if (!rows.is_swiglu) {
    multiply(rows);
    return;
  }
  constexpr std::int64_t kScratchRows = 64;
  alignas(64) float gate_up[kScratchRows * kItemFeatures];
  const ClampedSwiglu activation = {rows.alpha, rows.limit, rows.up_offset};
  for (std::int64_t row = 0; row < rows.num_rows; row += kScratchRows) {
    MultiplyRows part = rows;
    part.first_row = rows.first_row + row;
    part.num_rows = std::min(rows.num_rows - row, kScratchRows);
    part.y_stride = kItemFeatures;
    // So that output row `first_row` and feature `first_feature` come first in the scratch memory.
    part.y = gate_up - part.first_row * kItemFeatures - first_feature;
    multiply(part);
    for (std::int64_t r = 0; r < part.num_rows; ++r) {
      clamped_swiglu_row(
          level,
          gate_up + r * kItemFeatures,
          activation,
          (end_feature - first_feature) / 2,
          rows.y + (part.first_row + r) * rows.y_stride + first_feature / 2
      );
    }
  }
}

}  // namespace rapt
