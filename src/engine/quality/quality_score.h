#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rapt {

// What one prediction of a model came to beside the reference's, in natural logarithms.
struct RowScore {
  double nll = 0.0;            // -log of the probability given to the token that came
  double kl = 0.0;             // KL divergence of the reference's distribution from this one
  double error_square = 0.0;   // |logits - reference's|^2
  double logits_square = 0.0;  // |reference's logits|^2
  bool is_same_best = false;   // the likeliest token is the reference's
  bool is_finite = false;      // all logits are numbers, here and in the reference
};

// A row of the reference's logits with what every comparison needs of it.
class ReferenceRow {
 public:
  // Takes memory for rows of that many logits.
  explicit ReferenceRow(std::size_t vocab_size) : logits_(vocab_size), weights_(vocab_size) {}

  void set(std::span<const float> logits);

  // `logits` beside this row, where the token `target` came. May be this row's own.
  RowScore compare(std::span<const float> logits, std::int32_t target) const;

 private:
  std::vector<float> logits_;
  std::vector<double> weights_;  // exp(logit - max_logit_)
  double sum_ = 0.0;             // of the weights
  double max_logit_ = 0.0;
  double square_ = 0.0;  // of the logits
  std::size_t best_ = 0;
};

// A model's quality over a text.
struct QualityScore {
  std::int64_t num_predictions = 0;
  double perplexity = 0.0;  // exp of the mean of nll
  double mean_kl = 0.0;
  double median_kl = 0.0;
  double p99_kl = 0.0;  // 99 of 100 predictions are below
  double max_kl = 0.0;
  double same_best = 0.0;     // share of predictions, 0 to 1
  double logits_error = 0.0;  // norm of the differences over the norm of the reference's logits
};

QualityScore summarize(std::span<const RowScore> rows);

}  // namespace rapt
