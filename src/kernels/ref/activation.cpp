#include "kernels/activation.h"

#include "kernels/math.h"

namespace rapt::ref {

void swiglu_row(
    const float* gate_up, float alpha, float limit, float up_offset, std::int64_t size, float* y
) {
  for (std::int64_t idx = 0; idx < size; ++idx) {
    float gate = gate_up[2 * idx];
    float up = gate_up[2 * idx + 1];
    gate = limit < gate ? limit : gate;  // written so that NaN stays NaN
    up = limit < up ? limit : up;
    up = up < -limit ? -limit : up;
    const float sigmoid = 1.0F / (1.0F + math::exp(-alpha * gate));
    y[idx] = (gate * sigmoid) * (up + up_offset);
  }
}

void add_row(const float* y, std::int64_t size, float* x) {
  for (std::int64_t idx = 0; idx < size; ++idx) {
    x[idx] += y[idx];
  }
}

}  // namespace rapt::ref
