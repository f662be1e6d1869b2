#include <array>

#include "attention/cpu_ref/ref_internal.h"
#include "kernels/math.h"
#include "kernels/ref/sums.h"
#include "tensor/float_bits.h"

namespace rapt::ref {

namespace {

float element(const AttendRow& row, const void* data, std::int64_t position, std::int64_t d) {
  const std::int64_t idx = offset_of(row, position) + d;
  return row.is_bf16 ? bf16_to_f32(static_cast<const std::uint16_t*>(data)[idx])
                     : static_cast<const float*>(data)[idx];
}

float soft_capped(float score, float cap) {
  const float x = score / cap;
  const float e = math::exp(-2.0F * std::fabs(x));
  return cap * std::copysign((1.0F - e) / (1.0F + e), x);
}

}  // namespace

void attend(const AttendRow& row) {
  const std::int64_t first = row.first_position;
  float max_score = row.sink != nullptr ? *row.sink : -INFINITY;
  for (std::int64_t j = first; j < row.end_position; ++j) {
    PartialSums dot;
    for (std::int64_t d = 0; d < row.head_dim; ++d) {
      dot.add_product(d, row.q[d], element(row, row.k, j, d));
    }
    float score = dot.total() * row.scale;
    if (row.soft_cap > 0.0F) {
      score = soft_capped(score, row.soft_cap);
    }
    row.scores[j - first] = score;
    max_score = max_score < score ? score : max_score;
  }
  PartialSums weights;
  for (std::int64_t j = first; j < row.end_position; ++j) {
    float& score = row.scores[j - first];
    score = math::exp(score - max_score);
    weights.add_product(j, score, 1.0F);
  }
  float sum = weights.total();
  if (row.sink != nullptr) {
    sum += math::exp(*row.sink - max_score);
  }
  for (std::int64_t d = 0; d < row.head_dim; ++d) {
    float value = 0.0F;
    for (std::int64_t j = first; j < row.end_position; ++j) {
      value = std::fma(row.scores[j - first], element(row, row.v, j, d), value);
    }
    row.out[d] = value / sum;
  }
}

}  // namespace rapt::ref
