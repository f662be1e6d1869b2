#include "engine/quality/quality_score.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/math.h"

namespace rapt {

namespace {

// The first of the greatest, as sampling at temperature 0 takes it.
std::size_t best_of(std::span<const float> logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// The value that a share of the sorted values is not above.
double quantile(const std::vector<double>& sorted, double share) {
  const auto count = static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::ceil(share * count));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

// e^x by its series, for |x| up to kSmall: relative error below 1e-13. A tenth of math::exp()'s
// time.
constexpr double kSmall = 2.0;

double exp_of_small(double x) {
  const double quarter = 0.25 * x;
  double value = 1.0;
  for (int k = 12; k >= 1; --k) {
    value = 1.0 + value * quarter * (1.0 / k);
  }
  value *= value;
  return value * value;
}

}  // namespace

void ReferenceRow::set(std::span<const float> logits) {
  CHECK(logits.size() == logits_.size(), logits.size(), " ", logits_.size());
  std::copy(logits.begin(), logits.end(), logits_.begin());
  best_ = best_of(logits);
  max_logit_ = logits[best_];
  sum_ = 0.0;
  square_ = 0.0;
  for (std::size_t idx = 0; idx < logits.size(); ++idx) {
    const auto logit = static_cast<double>(logits[idx]);
    weights_[idx] = math::exp(logit - max_logit_);
    sum_ += weights_[idx];
    square_ += logit * logit;
  }
}

// With p the reference's probabilities, a its logits, b these and e = a - b:
// KL = sum of p (log p - log q) = sum of p e + log sum exp(b) - log sum exp(a).
RowScore ReferenceRow::compare(std::span<const float> logits, std::int32_t target) const {
  CHECK(logits.size() == logits_.size(), logits.size(), " ", logits_.size());
  double weighted = 0.0;
  double error_square = 0.0;
  double largest_error = 0.0;
  for (std::size_t idx = 0; idx < logits.size(); ++idx) {
    const double error = static_cast<double>(logits_[idx]) - static_cast<double>(logits[idx]);
    weighted += weights_[idx] * error;
    error_square += error * error;
    largest_error = std::max(largest_error, std::fabs(error));
  }
  RowScore score;
  score.is_finite = std::isfinite(error_square) && std::isfinite(square_) && std::isfinite(sum_);
  if (!score.is_finite) {
    return score;
  }
  const std::size_t best = best_of(logits);
  // The sum of exp(b - shift).
  const double shift = largest_error > kSmall ? static_cast<double>(logits[best]) : max_logit_;
  double sum = 0.0;
  if (largest_error > kSmall) {
    for (const float logit : logits) {
      sum += math::exp(static_cast<double>(logit) - shift);
    }
  } else {
    for (std::size_t idx = 0; idx < logits.size(); ++idx) {
      const double error = static_cast<double>(logits_[idx]) - static_cast<double>(logits[idx]);
      sum += weights_[idx] * exp_of_small(-error);
    }
  }
  const double log_sum = math::log(sum) + shift;
  const double reference_log_sum = math::log(sum_) + max_logit_;
  score.nll = log_sum - static_cast<double>(logits[static_cast<std::size_t>(target)]);
  // Rounding may bring what is nothing below it.
  score.kl = std::max(0.0, weighted / sum_ + log_sum - reference_log_sum);
  score.error_square = error_square;
  score.logits_square = square_;
  score.is_same_best = best == best_;
  return score;
}

QualityScore summarize(std::span<const RowScore> rows) {
  QualityScore score;
  if (rows.empty()) {
    return score;
  }
  score.num_predictions = static_cast<std::int64_t>(rows.size());
  double nll = 0.0;
  double error_square = 0.0;
  double logits_square = 0.0;
  std::int64_t num_same = 0;
  std::vector<double> kls;
  kls.reserve(rows.size());
  for (const RowScore& row : rows) {
    nll += row.nll;
    error_square += row.error_square;
    logits_square += row.logits_square;
    num_same += row.is_same_best ? 1 : 0;
    score.mean_kl += row.kl;
    kls.push_back(row.kl);
  }
  const auto count = static_cast<double>(rows.size());
  std::sort(kls.begin(), kls.end());
  score.perplexity = math::exp(nll / count);
  score.mean_kl /= count;
  score.median_kl = quantile(kls, 0.5);
  score.p99_kl = quantile(kls, 0.99);
  score.max_kl = kls.back();
  score.same_best = static_cast<double>(num_same) / count;
  score.logits_error = logits_square > 0.0 ? std::sqrt(error_square / logits_square) : 0.0;
  return score;
}

}  // namespace rapt
