#include "kernels/moe.h"

#include <cmath>

namespace rapt::ref {

void combine_row(
    const float* const* outs, const float* weights, int num_outs, std::int64_t size, float* x
) {
  for (std::int64_t idx = 0; idx < size; ++idx) {
    float sum = 0.0F;
    for (int out_idx = 0; out_idx < num_outs; ++out_idx) {
      sum = std::fma(weights[out_idx], outs[out_idx][idx], sum);
    }
    x[idx] += sum;
  }
}

}  // namespace rapt::ref
