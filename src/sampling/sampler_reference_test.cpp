// The sampler against its definition in double precision: full sorts, no scratch, no shortcuts; and
// its draws against the probabilities they stand for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/thread_pool.h"
#include "sampling/philox_internal.h"
#include "sampling/sampler.h"

namespace rapt {
namespace {

struct Candidate {
  TokenId token;
  double logit;
  double probability;
};

bool is_better(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

void normalise(std::vector<Candidate>& candidates) {
  double sum = 0.0;
  for (const Candidate& candidate : candidates) {
    sum += std::exp(candidate.logit - candidates[0].logit);
  }
  for (Candidate& candidate : candidates) {
    candidate.probability = std::exp(candidate.logit - candidates[0].logit) / sum;
  }
}

std::vector<Candidate> reference_candidates(const SamplerRow& row) {
  const SamplingParams& params = *row.params;
  std::map<TokenId, int> in_output;
  std::map<TokenId, int> anywhere;
  for (const TokenId token : row.output) {
    ++in_output[token];
    ++anywhere[token];
  }
  for (const TokenId token : row.prompt) {
    ++anywhere[token];
  }
  std::vector<Candidate> candidates;
  for (TokenId token = 0; token < static_cast<TokenId>(row.logits.size()); ++token) {
    float logit = row.logits[static_cast<std::size_t>(token)];
    for (const auto& [biased, bias] : params.logit_bias) {
      logit += biased == token ? bias : 0.0F;
    }
    if (anywhere.count(token) != 0) {
      logit = logit > 0.0F ? logit / params.repetition_penalty : logit * params.repetition_penalty;
    }
    if (in_output.count(token) != 0) {
      logit -= params.frequency_penalty * static_cast<float>(in_output[token]);
      logit -= params.presence_penalty;
    }
    if (row.allowed.empty() || (row.allowed[0] >> token & 1U) != 0) {
      candidates.push_back(Candidate{.token = token, .logit = logit, .probability = 0.0});
    }
  }
  std::sort(candidates.begin(), candidates.end(), is_better);
  if (params.temperature == 0.0F) {
    candidates.resize(1);
    return candidates;
  }
  for (Candidate& candidate : candidates) {
    candidate.logit /= static_cast<double>(params.temperature);
  }
  normalise(candidates);
  const double least = static_cast<double>(params.min_p) * candidates[0].probability;
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return candidate.probability < least * (1.0 - 1e-7);
  });
  if (params.top_k > 0 && candidates.size() > static_cast<std::size_t>(params.top_k)) {
    candidates.resize(static_cast<std::size_t>(params.top_k));
  }
  normalise(candidates);
  double sum = 0.0;
  for (std::size_t rank = 0; rank < candidates.size() && params.top_p < 1.0F; ++rank) {
    sum += candidates[rank].probability;
    if (sum >= static_cast<double>(params.top_p)) {
      candidates.resize(rank + 1);
    }
  }
  normalise(candidates);
  return candidates;
}

TokenId reference_token(const SamplerRow& row) {
  std::vector<Candidate> candidates = reference_candidates(row);
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.token < b.token;
  });
  const double draw = uniform_draw(row.params->seed, row.choice, row.position);
  double sum = 0.0;
  for (const Candidate& candidate : candidates) {
    sum += candidate.probability;
    if (sum > draw) {
      return candidate.token;
    }
  }
  return candidates.back().token;
}

TEST(SamplerReference, AgreesOnRandomRows) {
  constexpr int kVocabSize = 24;
  std::mt19937 random(17);
  std::normal_distribution<float> normal(0.0F, 2.5F);
  const auto uniform = [&random](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  ThreadPool pool(1);
  Sampler sampler(kVocabSize, 1, Stream{.pool = &pool});
  for (int round = 0; round < 20000; ++round) {
    std::vector<float> logits(kVocabSize);
    const bool is_tied = random() % 3 == 0;
    for (float& logit : logits) {
      logit = is_tied ? std::round(normal(random)) : normal(random);
    }
    SamplingParams params;
    params.seed = random();
    params.temperature = random() % 6 == 0 ? 0.0F : uniform(0.1F, 2.0F);
    params.top_k = random() % 2 == 0 ? 0 : static_cast<int>(random() % 30);
    params.top_p = random() % 2 == 0 ? 1.0F : uniform(0.05F, 0.99F);
    params.min_p = random() % 3 == 0 ? uniform(0.0F, 0.3F) : 0.0F;
    params.repetition_penalty = random() % 3 == 0 ? uniform(0.7F, 1.6F) : 1.0F;
    params.frequency_penalty = random() % 3 == 0 ? uniform(-1.0F, 1.0F) : 0.0F;
    params.presence_penalty = random() % 3 == 0 ? uniform(-1.0F, 1.0F) : 0.0F;
    if (random() % 4 == 0) {
      params.logit_bias = {{3, uniform(-5.0F, 5.0F)}, {9, 2.0F}, {3, 0.5F}};
    }
    std::vector<TokenId> prompt(random() % 12);
    std::vector<TokenId> output(random() % 12);
    for (auto* text : {&prompt, &output}) {
      for (TokenId& token : *text) {
        token = static_cast<TokenId>(random() % kVocabSize);
      }
    }
    const std::vector<std::uint32_t> mask = {static_cast<std::uint32_t>(random()) | 1U};
    const StopRules stop;
    const SamplerRow row{
        .logits = logits,
        .params = &params,
        .stop = &stop,
        .choice = static_cast<int>(random() % 3),
        .position = static_cast<int>(prompt.size() + output.size()),
        .prompt = prompt,
        .output = output,
        .allowed = random() % 3 == 0 ? std::span<const std::uint32_t>(mask)
                                     : std::span<const std::uint32_t>()};
    const SamplerResult& result = sampler.sample({&row, 1})[0];
    ASSERT_EQ(result.error, "");
    ASSERT_EQ(result.sampled.token, reference_token(row)) << "round " << round;
  }
}

// Pearson's chi-square over many positions of one seed, then over many seeds at one position.
TEST(SamplerReference, DrawsFollowTheProbabilities) {
  const std::vector<float> logits = {0.0F, 1.0F, -1.0F, 2.0F, 0.5F, -0.5F, 1.5F, -3.0F};
  constexpr int kNumDraws = 20000;
  const StopRules stop;
  ThreadPool pool(1);
  Sampler sampler(8, 1, Stream{.pool = &pool});
  for (const bool vary_seed : {false, true}) {
    SamplingParams params;
    params.temperature = 0.9F;
    params.top_k = 6;
    SamplerRow row{.logits = logits, .params = &params, .stop = &stop};
    std::map<TokenId, int> counts;
    for (int idx = 0; idx < kNumDraws; ++idx) {
      params.seed = vary_seed ? static_cast<std::uint64_t>(idx) : 1234;
      row.position = vary_seed ? 77 : idx;
      ++counts[sampler.sample({&row, 1})[0].sampled.token];
    }
    double chi_square = 0.0;
    const std::vector<Candidate> candidates = reference_candidates(row);
    ASSERT_EQ(candidates.size(), 6U);
    ASSERT_EQ(counts.size(), 6U);
    for (const Candidate& candidate : candidates) {
      const double expected = kNumDraws * candidate.probability;
      const double difference = counts[candidate.token] - expected;
      chi_square += difference * difference / expected;
    }
    EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom: one in a thousand is above
  }
}

}  // namespace
}  // namespace rapt
