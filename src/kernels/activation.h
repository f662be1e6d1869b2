#pragma once

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// The two constants of the clamped SwiGLU.
struct ClampedSwiglu {
  float alpha = 1.702F;
  float limit = 7.0F;
};

// The clamped SwiGLU of gpt-oss. With g = min(gate, limit), u = clamp(up, -limit, limit):
//   y = (g * sigmoid(alpha * g)) * (u + 1)
// Gate and up alternate along the last dimension: element 2i is gate i, 2i + 1 is up i.
void clamped_swiglu(
    const Stream& stream,
    Tensor gate_up,  // [num_rows, 2 * intermediate_size] fp32
    float alpha,
    float limit,
    Tensor y  // [num_rows, intermediate_size] fp32
);

// One row of it on the calling thread: gate_up is [2 * size], y is [size].
void clamped_swiglu_row(
    CpuLevel level, const float* gate_up, ClampedSwiglu params, std::int64_t size, float* y
);

// The SwiGLU of Llama: y = (gate * sigmoid(gate)) * up. Gate and up alternate as above.
void swiglu(
    const Stream& stream,
    Tensor gate_up,  // [num_rows, 2 * intermediate_size] fp32
    Tensor y         // [num_rows, intermediate_size] fp32
);

// x += y, element by element. Same shape, fp32.
void add_in_place(const Stream& stream, Tensor x, Tensor y);

// y[i] = exp(x[i] - shift).
void exp_shifted(const Stream& stream, const float* x, float shift, std::int64_t size, float* y);

namespace ref {
void swiglu_row(const float* gate_up, float alpha, float limit, std::int64_t size, float* y);
void plain_swiglu_row(const float* gate_up, std::int64_t size, float* y);
void add_row(const float* y, std::int64_t size, float* x);  // x += y
}  // namespace ref

}  // namespace rapt
