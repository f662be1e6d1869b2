#pragma once

#include <cstdint>

#include "quant/linear_mode.h"

namespace rapt {

// The inputs and outputs of one work item, as plain pointers for the kernels.
struct MultiplyRows {
  const float* x = nullptr;                  // first input row
  std::int64_t x_stride = 0;                 // floats from one input row to the next
  LinearMode mode = LinearMode::kF32;        // of the packed rows; f32: there are none
  const std::uint8_t* packed = nullptr;      // first packed input row
  std::int64_t packed_stride = 0;            // bytes from one packed row to the next
  const std::int32_t* input_rows = nullptr;  // which input row each output row reads; null: its own
  std::int64_t first_row = 0;                // first output row
  std::int64_t num_rows = 0;
  float* y = nullptr;         // output row 0, output feature 0
  std::int64_t y_stride = 0;  // floats from one output row to the next
  // The clamped SwiGLU follows: features 2i and 2i + 1 become element i of y.
  bool is_swiglu = false;
  float alpha = 0.0F;
  float limit = 0.0F;
  float up_offset = 0.0F;
};

}  // namespace rapt
