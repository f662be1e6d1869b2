#include <algorithm>

#include "kernels/math.h"
#include "sampling/logprobs_internal.h"

namespace rapt {

namespace {

// JSON has no -inf; clients expect a number.
constexpr float kLeastLogprob = -9999.0F;

// The best tokens, best first, with their logits where the log-probabilities will stand.
void find_top(std::span<const float> logits, std::size_t num_top, std::vector<TokenLogprob>& top) {
  top.clear();
  top.reserve(num_top);
  for (std::size_t token = 0; token < logits.size() && num_top > 0; ++token) {
    const float logit = logits[token];
    if (top.size() == num_top) {
      if (!(logit > top.back().logprob)) {
        continue;
      }
      top.pop_back();
    }
    const auto place =
        std::upper_bound(top.begin(), top.end(), logit, [](float value, const TokenLogprob& entry) {
          return value > entry.logprob;
        });
    top.insert(place, TokenLogprob{.token = static_cast<TokenId>(token), .logprob = logit});
  }
}

int rank_of(std::span<const float> logits, TokenId chosen) {
  const float logit = logits[static_cast<std::size_t>(chosen)];
  int rank = 1;
  for (std::size_t token = 0; token < logits.size(); ++token) {
    const bool is_tie_before = logits[token] == logit && token < static_cast<std::size_t>(chosen);
    rank += logits[token] > logit || is_tie_before ? 1 : 0;
  }
  return rank;
}

}  // namespace

void fill_logprobs(
    std::span<const float> logits,
    float max_logit,
    double exp_sum,
    int num_top,
    SampledToken& sampled
) {
  const float log_sum = math::log(static_cast<float>(exp_sum));
  const auto logprob_of = [&](float logit) {
    return std::max((logit - max_logit) - log_sum, kLeastLogprob);
  };

  sampled.logprob = TokenLogprob{
      .token = sampled.token,
      .logprob = logprob_of(logits[static_cast<std::size_t>(sampled.token)]),
      .rank = rank_of(logits, sampled.token)};
  const auto num_wanted = static_cast<std::size_t>(std::max(num_top, 0));
  find_top(logits, std::min(num_wanted, logits.size()), sampled.top_logprobs);
  int rank = 0;
  for (TokenLogprob& entry : sampled.top_logprobs) {
    entry.logprob = logprob_of(entry.logprob);
    entry.rank = ++rank;
  }
}

}  // namespace rapt
