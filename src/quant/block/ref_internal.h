#pragma once

#include <cmath>
#include <cstring>

#include "quant/block/matrix_internal.h"
#include "quant/packed_input.h"
#include "quant/ref_multiply_internal.h"

namespace rapt {

// The definition of a linear layer in a block format. `Format` has two static functions:
//   int code(matrix, feature, k)           the integer of a weight
//   float scale(matrix, feature, block)    what the integers of a block are multiplied by, exactly
template <typename Format>
void ref_multiply_blocks(
    const BlockMatrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
) {
  if (rows.mode == LinearMode::kF32) {
    const auto weight = [&](std::int64_t feature, std::int64_t k) {
      return static_cast<float>(Format::code(matrix, feature, k)) *
             Format::scale(matrix, feature, k / kPackedBlockSize);
    };
    ref_multiply(
        matrix.num_blocks * kPackedBlockSize, first_feature, end_feature, bias, rows, weight
    );
    return;
  }
  for (std::int64_t row = rows.first_row; row < rows.first_row + rows.num_rows; ++row) {
    const std::int64_t input_row = rows.input_rows == nullptr ? row : rows.input_rows[row];
    for (std::int64_t feature = first_feature; feature < end_feature; ++feature) {
      const std::uint8_t* packed = rows.packed + input_row * rows.packed_stride;
      float acc = 0.0F;
      for (std::int64_t block = 0; block < matrix.num_blocks; ++block) {
        std::int32_t dot = 0;
        for (std::int64_t idx = 0; idx < kPackedBlockSize; ++idx) {
          const auto low = static_cast<std::int8_t>(packed[kPackedLowOffset + idx]);
          const int high = rows.mode == LinearMode::kI16
                               ? static_cast<std::int8_t>(packed[kPackedHighOffset + idx])
                               : 0;
          dot += Format::code(matrix, feature, block * kPackedBlockSize + idx) * (256 * high + low);
        }
        float scale = 0.0F;
        std::memcpy(&scale, packed, sizeof(scale));
        scale = Format::scale(matrix, feature, block) * scale;
        acc = std::fma(static_cast<float>(dot), scale, acc);
        packed += packed_block_bytes(rows.mode);
      }
      rows.y[row * rows.y_stride + feature] = bias == nullptr ? acc : acc + bias[feature];
    }
  }
}

}  // namespace rapt
