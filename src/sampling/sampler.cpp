#include "sampling/sampler.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.h"
#include "kernels/activation.h"
#include "kernels/math.h"
#include "sampling/logits_edit_internal.h"
#include "sampling/logprobs_internal.h"
#include "sampling/philox_internal.h"
#include "sampling/truncate_internal.h"

namespace rapt {

namespace {

// Below it vLLM takes the best token, and so do we; dividing by less would overflow.
constexpr float kLeastTemperature = 1e-5F;

// The best token of a row.
struct Best {
  TokenId token = -1;  // none: every logit is -inf
  float logit = -std::numeric_limits<float>::infinity();
};

Best find_best(std::span<const float> logits) {
  Best best;
  for (std::size_t token = 0; token < logits.size(); ++token) {
    if (logits[token] > best.logit) {
      best = Best{.token = static_cast<TokenId>(token), .logit = logits[token]};
    }
  }
  return best;
}

// The first logit that no model in order produces: NaN or +inf.
std::optional<std::size_t> find_not_finite(std::span<const float> logits) {
  for (std::size_t token = 0; token < logits.size(); ++token) {
    if (!(logits[token] <= std::numeric_limits<float>::max())) {
      return token;
    }
  }
  return std::nullopt;
}

std::string not_finite_message(const SamplerRow& row, std::size_t token) {
  return "the model produced logits that are not finite (" +
         std::string(std::isnan(row.logits[token]) ? "NaN" : "+inf") + " for token " +
         std::to_string(token) + " at position " + std::to_string(row.position) +
         "); this request cannot go on, others are not affected";
}

double sum_in_order(std::span<const float> weights) {
  double sum = 0.0;
  for (const float weight : weights) {
    sum += static_cast<double>(weight);
  }
  return sum;
}

// Walks the tokens in ascending id until the weights passed exceed the share `draw` of them all.
TokenId walk(std::span<const float> weights, double draw) {
  const double target = draw * sum_in_order(weights);
  double passed = 0.0;
  std::size_t last = 0;
  for (std::size_t token = 0; token < weights.size(); ++token) {
    if (weights[token] > 0.0F) {
      passed += static_cast<double>(weights[token]);
      last = token;
      if (passed > target) {
        break;
      }
    }
  }
  return static_cast<TokenId>(last);
}

}  // namespace

struct Sampler::Scratch {
  Scratch(int vocab_size, const Stream& used_stream)
      : stream(used_stream),
        logits(static_cast<std::size_t>(vocab_size)),
        weights(logits.size()),
        counts(logits.size()),
        truncator(vocab_size) {}

  void sample_row(const SamplerRow& row, SamplerResult& result);
  TokenId draw(const SamplerRow& row, float max_logit);

  Stream stream;
  std::vector<float> logits;          // edited, then scaled
  std::vector<float> weights;         // exp of the above; 0 once filtered out
  std::vector<std::uint32_t> counts;  // zero between rows
  Truncator truncator;
};

Sampler::Sampler(int vocab_size, int max_rows, const Stream& stream)
    : stream_(stream), results_(static_cast<std::size_t>(max_rows)) {
  const int num_scratch = std::max(1, std::min(stream.pool->num_threads(), max_rows));
  for (int count = 0; count < num_scratch; ++count) {
    scratch_.push_back(std::make_unique<Scratch>(vocab_size, stream));
  }
}

Sampler::~Sampler() = default;

std::span<const SamplerResult> Sampler::sample(std::span<const SamplerRow> rows) {
  CHECK(rows.size() <= results_.size(), rows.size(), " rows of at most ", results_.size());
  if (rows.empty()) {
    return {};
  }
  // Whoever takes a scratch space keeps taking rows with it.
  std::atomic<std::size_t> next_row{0};
  const auto num_spaces = static_cast<std::int64_t>(std::min(scratch_.size(), rows.size()));
  stream_.pool->parallel_for(num_spaces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t space = begin; space < end; ++space) {
      Scratch& scratch = *scratch_[static_cast<std::size_t>(space)];
      for (std::size_t idx = next_row++; idx < rows.size(); idx = next_row++) {
        CHECK(rows[idx].logits.size() == scratch.logits.size(), rows[idx].logits.size());
        scratch.sample_row(rows[idx], results_[idx]);
      }
    }
  });
  return {results_.data(), rows.size()};
}

void Sampler::Scratch::sample_row(const SamplerRow& row, SamplerResult& result) {
  result.error.clear();
  result.sampled.token = 0;
  result.sampled.logprob.reset();
  result.sampled.top_logprobs.clear();
  if (const auto token = find_not_finite(row.logits)) {
    result.error = not_finite_message(row, *token);
    return;
  }
  const Best best_raw = find_best(row.logits);
  if (best_raw.token < 0) {
    result.error = "the model gave every token the probability 0; this request cannot go on";
    return;
  }
  const bool is_greedy = row.params->temperature < kLeastTemperature;
  Best best = best_raw;
  if (needs_edit(row) || !is_greedy) {
    std::copy(row.logits.begin(), row.logits.end(), logits.begin());
  }
  if (needs_edit(row)) {
    edit_logits(row, logits, counts);
    best = find_best(logits);
    if (best.token < 0) {
      result.error =
          "no token may come next: the output constraint and min_tokens together forbid them all";
      return;
    }
  }
  result.sampled.token = is_greedy ? best.token : draw(row, best.logit);
  if (row.params->num_logprobs) {
    const auto vocab_size = static_cast<std::int64_t>(weights.size());
    exp_shifted(stream, row.logits.data(), best_raw.logit, vocab_size, weights.data());
    const double exp_sum = sum_in_order(weights);
    fill_logprobs(row.logits, best_raw.logit, exp_sum, *row.params->num_logprobs, result.sampled);
  }
}

TokenId Sampler::Scratch::draw(const SamplerRow& row, float max_logit) {
  const auto vocab_size = static_cast<std::int64_t>(logits.size());
  const SamplingParams& params = *row.params;
  // p >= min_p * p_max, in logarithms.
  const float least_score =
      params.min_p > 0.0F ? math::log(params.min_p) : -std::numeric_limits<float>::infinity();
  for (std::size_t token = 0; token < logits.size(); ++token) {
    const float score = (logits[token] - max_logit) / params.temperature;
    logits[token] = score >= least_score ? score : -std::numeric_limits<float>::infinity();
  }
  exp_shifted(stream, logits.data(), 0.0F, vocab_size, weights.data());
  if (params.top_k > 0 && static_cast<std::size_t>(params.top_k) < logits.size()) {
    truncator.keep_top_k(params.top_k, logits, weights);
  }
  if (params.top_p < 1.0F) {
    truncator.keep_top_p(params.top_p, logits, weights);
  }
  return walk(weights, uniform_draw(params.seed, row.choice, row.position));
}

}  // namespace rapt
