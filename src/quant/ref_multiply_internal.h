#pragma once

#include "kernels/ref/sums.h"
#include "quant/multiply_rows_internal.h"

namespace rapt {

// The definition of a linear layer: weight(feature, k) gives the exact fp32 value of a weight.
template <typename Weight>
void ref_multiply(
    std::int64_t in_features,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const float* bias,  // [out_features] or null
    const MultiplyRows& rows,
    Weight&& weight
) {
  for (std::int64_t row = rows.first_row; row < rows.first_row + rows.num_rows; ++row) {
    const std::int64_t input_row = rows.input_rows == nullptr ? row : rows.input_rows[row];
    const float* x = rows.x + input_row * rows.x_stride;
    for (std::int64_t feature = first_feature; feature < end_feature; ++feature) {
      ref::PartialSums sums;
      for (std::int64_t k = 0; k < in_features; ++k) {
        sums.add_product(k, weight(feature, k), x[k]);
      }
      const float sum = sums.total();
      rows.y[row * rows.y_stride + feature] = bias == nullptr ? sum : sum + bias[feature];
    }
  }
}

}  // namespace rapt
