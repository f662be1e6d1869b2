#include <algorithm>
#include <cmath>

#include "attention/cpu_ref/kernel_internal.h"
#include "attention/kv_reader_internal.h"
#include "kernels/math.h"
#include "kernels/ref/sums.h"

namespace rapt::ref {

namespace {

float soft_capped(float score, float cap) {
  const float x = score / cap;
  const float e = math::exp(-2.0F * std::fabs(x));
  return cap * std::copysign((1.0F - e) / (1.0F + e), x);
}

}  // namespace

void attend(const AttendRow& row) {
  const KVReader kv(*row.layer, row.kv_head, row.block_table);
  const std::int64_t first = row.first_position;
  const std::int64_t head_dim = row.layer->head_dim;
  float max_score = row.sink != nullptr ? *row.sink : -INFINITY;
  for (std::int64_t j = first; j < row.end_position; ++j) {
    kv.read_k(j, row.key);
    PartialSums dot;
    for (std::int64_t d = 0; d < head_dim; ++d) {
      dot.add_product(d, row.q[d], row.key[d]);
    }
    float score = dot.total() * row.scale;
    if (row.soft_cap > 0.0F) {
      score = soft_capped(score, row.soft_cap);
    }
    row.scores[j - first] = score;
    max_score = max_score < score ? score : max_score;
  }
  if (max_score == -INFINITY &&
      std::none_of(row.scores, row.scores + (row.end_position - first), [](float score) {
        return std::isnan(score);
      })) {
    std::fill_n(row.out, head_dim, 0.0F);
    return;
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
  std::fill_n(row.out, head_dim, 0.0F);
  for (std::int64_t j = first; j < row.end_position; ++j) {
    kv.read_v(j, row.key);
    for (std::int64_t d = 0; d < head_dim; ++d) {
      row.out[d] = std::fma(row.scores[j - first], row.key[d], row.out[d]);
    }
  }
  for (std::int64_t d = 0; d < head_dim; ++d) {
    row.out[d] /= sum;
  }
}

}  // namespace rapt::ref
