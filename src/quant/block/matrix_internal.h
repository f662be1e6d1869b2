#pragma once

#include <cstdint>

#include "quant/multiply_rows_internal.h"
#include "tensor/stream.h"

namespace rapt {

// One matrix of a format whose rows are blocks of 32 inputs, in the checkpoint's layout. Rows 2i
// and 2i + 1 may come from two tensors (gate and up), so there are two of each pointer. Where
// block b of a row lies, and what it looks like, the format says.
struct BlockMatrix {
  const std::uint8_t* codes[2] = {};   // the first blocks of row 0 and of row 1
  const std::uint8_t* scales[2] = {};  // their scales
  std::int64_t codes_stride = 0;       // bytes from row i to row i + 2
  std::int64_t scales_stride = 0;
  std::int64_t num_blocks = 0;  // blocks in a row

  const std::uint8_t* codes_of(std::int64_t row) const {
    return codes[row % 2] + row / 2 * codes_stride;
  }

  const std::uint8_t* scales_of(std::int64_t row) const {
    return scales[row % 2] + row / 2 * scales_stride;
  }
};

using BlockMultiply = void (*)(
    const BlockMatrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
);

}  // namespace rapt
