#include "kernels/norm.h"

#include <cmath>

#include "kernels/ref/sums.h"

namespace rapt::ref {

void rms_norm_row(const float* x, const float* weight, float eps, std::int64_t size, float* y) {
  PartialSums squares;
  for (std::int64_t idx = 0; idx < size; ++idx) {
    squares.add_product(idx, x[idx], x[idx]);
  }
  const float mean = squares.total() / static_cast<float>(size);
  const float scale = 1.0F / std::sqrt(mean + eps);
  for (std::int64_t idx = 0; idx < size; ++idx) {
    y[idx] = (x[idx] * scale) * weight[idx];
  }
}

}  // namespace rapt::ref
