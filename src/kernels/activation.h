#pragma once

#include <cstdint>
#include <limits>

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// The constants of a clamped SwiGLU; those of gpt-oss unless told.
// With g = min(gate, limit), u = clamp(up, -limit, limit):
//   y = (g * sigmoid(alpha * g)) * (u + up_offset)
struct ClampedSwiglu {
  float alpha = 1.702F;
  float limit = 7.0F;
  float up_offset = 1.0F;

  // The SwiGLU of Llama: y = (gate * sigmoid(gate)) * up.
  static constexpr ClampedSwiglu plain() {
    return {1.0F, std::numeric_limits<float>::infinity(), 0.0F};
  }
};

// One row of it on the calling thread: gate_up is [2 * size], gate and up in turn; y is [size].
void clamped_swiglu_row(
    CpuLevel level, const float* gate_up, ClampedSwiglu params, std::int64_t size, float* y
);

// x += y, element by element. Same shape, fp32.
void add_in_place(const Stream& stream, Tensor x, Tensor y);

// y[i] = exp(x[i] - shift).
void exp_shifted(const Stream& stream, const float* x, float shift, std::int64_t size, float* y);

namespace ref {
void swiglu_row(
    const float* gate_up, float alpha, float limit, float up_offset, std::int64_t size, float* y
);
void add_row(const float* y, std::int64_t size, float* x);  // x += y
}  // namespace ref

}  // namespace rapt
