#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "quant/linear_method.h"
#include "quant/multiply_rows_internal.h"

namespace rapt {

// Cuts a multiply into items of one group and up to `kFeatures` output features, and runs
// body(matrix, first_feature, end_feature, rows) for each on the pool. All rows of a group stay in
// one item, so that a weight is decoded once for all of them.
template <typename Body>
void for_each_multiply_item(
    const Stream& stream,
    const PackedInput& input,
    std::span<const std::int32_t> input_rows,
    std::span<const RowGroup> groups,
    Tensor y,
    Body&& body
) {
  constexpr std::int64_t kFeatures = 32;
  const std::int64_t out_features = y.size(1);
  const std::int64_t num_strips = (out_features + kFeatures - 1) / kFeatures;
  const auto num_groups = static_cast<std::int64_t>(groups.size());
  stream.pool->parallel_for(num_groups * num_strips, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const RowGroup& group = groups[static_cast<std::size_t>(item / num_strips)];
      if (group.count == 0) {
        continue;
      }
      const std::int64_t first_feature = item % num_strips * kFeatures;
      const MultiplyRows rows = {
          .x = input.x.f32(),
          .x_stride = input.x.size(1),
          .input_rows = input_rows.empty() ? nullptr : input_rows.data(),
          .first_row = group.first,
          .num_rows = group.count,
          .y = y.f32(),
          .y_stride = out_features,
      };
      body(group.matrix, first_feature, std::min(first_feature + kFeatures, out_features), rows);
    }
  });
}

}  // namespace rapt
