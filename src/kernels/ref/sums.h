#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace rapt::ref {

// The one order in which Rapt adds up fp32 products: product number k goes to partial sum k mod 16
// by a fused multiply-add, in ascending k; the 16 sums are joined by halving (0 with 8, 1 with 9,
// ...; then 0 with 4, ...). docs/NUMERICS.md.
class PartialSums {
 public:
  void add_product(std::int64_t k, float a, float b) {
    float& sum = sums_[static_cast<std::size_t>(k % kNumSums)];
    sum = std::fma(a, b, sum);
  }

  float total() const {
    std::array<float, kNumSums> sums = sums_;
    for (std::size_t half = kNumSums / 2; half >= 1; half /= 2) {
      for (std::size_t idx = 0; idx < half; ++idx) {
        sums[idx] += sums[idx + half];
      }
    }
    return sums[0];
  }

 private:
  static constexpr std::int64_t kNumSums = 16;
  std::array<float, kNumSums> sums_{};
};

}  // namespace rapt::ref
