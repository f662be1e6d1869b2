#include "kernels/rope.h"

#include <cmath>

namespace rapt::ref {

void rope_head(const float* cos, const float* sin, std::int64_t half_size, float* x) {
  for (std::int64_t idx = 0; idx < half_size; ++idx) {
    const float first = x[idx];
    const float second = x[idx + half_size];
    x[idx] = std::fma(first, cos[idx], 0.0F - second * sin[idx]);
    x[idx + half_size] = std::fma(second, cos[idx], first * sin[idx]);
  }
}

}  // namespace rapt::ref
