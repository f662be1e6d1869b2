#include "sampling/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/thread_pool.h"
#include "support/allocation_counter.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One row and all that it points to.
struct Case {
  std::vector<float> logits;
  SamplingParams params = {};
  StopRules stop = {};
  std::vector<TokenId> prompt = {};
  std::vector<TokenId> output = {};
  std::vector<std::uint32_t> allowed = {};
  int choice = 0;

  SamplerRow row() const {
    return SamplerRow{
        .logits = logits,
        .params = &params,
        .stop = &stop,
        .choice = choice,
        .position = static_cast<int>(prompt.size() + output.size()),
        .prompt = prompt,
        .output = output,
        .allowed = allowed};
  }
};

SamplingParams greedy() {
  return SamplingParams{.temperature = 0.0F};
}

SamplerResult sample_one(const Case& test_case) {
  ThreadPool pool(1);
  Sampler sampler(static_cast<int>(test_case.logits.size()), 1, Stream{.pool = &pool});
  const SamplerRow row = test_case.row();
  return sampler.sample({&row, 1})[0];
}

TokenId token_of(const Case& test_case) {
  const SamplerResult result = sample_one(test_case);
  EXPECT_EQ(result.error, "");
  return result.sampled.token;
}

TEST(Sampler, GreedyTakesTheBestAndTheLowerOfEquals) {
  EXPECT_EQ(token_of(Case{.logits = {0.0F, 2.0F, 1.0F, 2.0F}, .params = greedy()}), 1);
  EXPECT_EQ(token_of(Case{.logits = {-kInf, -3.0F, -kInf}, .params = greedy()}), 1);
}

TEST(Sampler, ATinyTemperatureIsGreedy) {
  Case test_case{.logits = {1.0F, 1.00001F, 0.0F}};
  test_case.params.temperature = 9e-6F;
  EXPECT_EQ(token_of(test_case), 1);
}

TEST(Sampler, LogitBiasMovesTheChoice) {
  Case test_case{.logits = {0.0F, 2.0F, 1.0F}, .params = greedy()};
  test_case.params.logit_bias = {{2, 1.5F}, {7, 100.0F}, {-1, 100.0F}};
  EXPECT_EQ(token_of(test_case), 2);
}

TEST(Sampler, HugeLogitsAndBiasesStayFinite) {
  Case test_case{.logits = {3.4e38F, -3.4e38F, 3.3e38F}};
  test_case.params.logit_bias = {{2, 3e38F}};
  test_case.params.temperature = 1e-4F;
  EXPECT_EQ(token_of(test_case), 2);
}

TEST(Sampler, RepetitionPenaltyCountsPromptAndOutputOnce) {
  Case test_case{.logits = {4.0F, 3.0F, -1.0F, -1.5F}, .params = greedy()};
  test_case.params.repetition_penalty = 1.5F;
  test_case.prompt = {0, 0, 0};
  EXPECT_EQ(token_of(test_case), 1);  // 4 / 1.5 < 3
  test_case.output = {1};
  EXPECT_EQ(token_of(test_case), 0);  // 4 / 1.5 > 3 / 1.5
  // A negative logit is multiplied: -1 * 1.5 ties with -1.5, and the lower id wins.
  EXPECT_EQ(
      token_of(Case{.logits = {-9.0F, -1.5F, -1.0F}, .params = test_case.params, .prompt = {2}}), 1
  );
}

TEST(Sampler, OutputPenaltiesDoNotCountThePrompt) {
  Case test_case{.logits = {3.0F, 2.0F}, .params = greedy(), .prompt = {0, 0, 0, 0}};
  test_case.params.frequency_penalty = 0.4F;
  EXPECT_EQ(token_of(test_case), 0);
  test_case.output = {0, 0};
  EXPECT_EQ(token_of(test_case), 0);  // 3 - 2 * 0.4 > 2
  test_case.output = {0, 0, 0};
  EXPECT_EQ(token_of(test_case), 1);  // 3 - 3 * 0.4 < 2
  test_case.params.frequency_penalty = 0.0F;
  test_case.params.presence_penalty = 0.9F;
  EXPECT_EQ(token_of(test_case), 0);
  test_case.params.presence_penalty = 1.1F;
  EXPECT_EQ(token_of(test_case), 1);
}

TEST(Sampler, EndsAreForbiddenBeforeMinTokens) {
  Case test_case{.logits = {1.0F, 5.0F, 4.0F}, .params = greedy()};
  test_case.stop.min_tokens = 2;
  test_case.stop.eos_token_ids = {1};
  test_case.stop.stop_token_ids = {2};
  EXPECT_EQ(token_of(test_case), 0);
  test_case.output = {0};
  EXPECT_EQ(token_of(test_case), 0);
  test_case.output = {0, 0};
  EXPECT_EQ(token_of(test_case), 1);
}

TEST(Sampler, TheMaskForbids) {
  Case test_case{.logits = std::vector<float>(70, 0.0F), .params = greedy()};
  test_case.allowed = {0, 0, 1U << 5U | 1U << 3U};
  EXPECT_EQ(token_of(test_case), 67);
  test_case.params.temperature = 1.0F;
  for (int position = 0; position < 20; ++position) {
    test_case.output.push_back(token_of(test_case));
    EXPECT_TRUE(test_case.output.back() == 67 || test_case.output.back() == 69);
  }
}

TEST(Sampler, NothingAllowedIsAnError) {
  Case test_case{.logits = {0.0F, 1.0F}, .allowed = {0}};
  EXPECT_THAT(sample_one(test_case).error, HasSubstr("no token may come next"));
}

TEST(Sampler, ABadRowFailsAloneAndSaysWhy) {
  const std::vector<Case> cases = {
      Case{.logits = {0.0F, 1.0F, 2.0F}, .params = greedy()},
      Case{.logits = {0.0F, kNan, 2.0F}, .params = greedy(), .prompt = {1, 1}},
      Case{.logits = {0.0F, 1.0F, kInf}},
      Case{.logits = {-kInf, -kInf, -kInf}},
      Case{.logits = {-kInf, 1.0F, -kInf}}};
  std::vector<SamplerRow> rows;
  for (const Case& test_case : cases) {
    rows.push_back(test_case.row());
  }
  ThreadPool pool(2);
  Sampler sampler(3, 8, Stream{.pool = &pool});
  const auto results = sampler.sample(rows);
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[0].error, "");
  EXPECT_EQ(results[0].sampled.token, 2);
  EXPECT_THAT(results[1].error, HasSubstr("NaN for token 1 at position 2"));
  EXPECT_THAT(results[2].error, HasSubstr("+inf for token 2 at position 0"));
  EXPECT_THAT(results[3].error, HasSubstr("probability 0"));
  EXPECT_EQ(results[4].error, "");
  EXPECT_EQ(results[4].sampled.token, 1);
}

TEST(Sampler, LogprobsAreThoseOfTheRawLogits) {
  Case test_case{.logits = {1.0F, 3.0F, -kInf, 3.0F, 2.0F}, .params = greedy()};
  test_case.params.logit_bias = {{4, 50.0F}};
  test_case.params.num_logprobs = 3;
  const SampledToken sampled = sample_one(test_case).sampled;
  const double log_sum = std::log(std::exp(1.0) + 2.0 * std::exp(3.0) + std::exp(2.0));
  EXPECT_EQ(sampled.token, 4);
  ASSERT_TRUE(sampled.logprob.has_value());
  EXPECT_EQ(sampled.logprob->token, 4);
  EXPECT_EQ(sampled.logprob->rank, 3);
  EXPECT_NEAR(sampled.logprob->logprob, 2.0 - log_sum, 1e-6);
  ASSERT_EQ(sampled.top_logprobs.size(), 3U);
  const std::vector<TokenId> best = {1, 3, 4};
  for (std::size_t idx = 0; idx < 3; ++idx) {
    EXPECT_EQ(sampled.top_logprobs[idx].token, best[idx]);
    EXPECT_EQ(sampled.top_logprobs[idx].rank, static_cast<int>(idx) + 1);
  }
  EXPECT_NEAR(sampled.top_logprobs[0].logprob, 3.0 - log_sum, 1e-6);
  EXPECT_EQ(sampled.top_logprobs[0].logprob, sampled.top_logprobs[1].logprob);
}

TEST(Sampler, LogprobsNeverBecomeInfinite) {
  Case test_case{.logits = {0.0F, -kInf, -30000.0F}, .params = greedy()};
  test_case.params.num_logprobs = 20;  // more than there are
  const SampledToken sampled = sample_one(test_case).sampled;
  ASSERT_EQ(sampled.top_logprobs.size(), 3U);
  EXPECT_EQ(sampled.top_logprobs[0].logprob, 0.0F);
  EXPECT_EQ(sampled.top_logprobs[1].token, 2);
  EXPECT_EQ(sampled.top_logprobs[1].logprob, -9999.0F);
  EXPECT_EQ(sampled.top_logprobs[2].logprob, -9999.0F);
}

TEST(Sampler, ZeroLogprobsMeansThatOfTheTokenAlone) {
  Case test_case{.logits = {0.0F, 1.0F}, .params = greedy()};
  EXPECT_FALSE(sample_one(test_case).sampled.logprob.has_value());
  test_case.params.num_logprobs = 0;
  const SampledToken sampled = sample_one(test_case).sampled;
  EXPECT_TRUE(sampled.logprob.has_value());
  EXPECT_TRUE(sampled.top_logprobs.empty());
}

std::vector<Case> random_cases(int count, int vocab_size) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0F, 2.0F);
  std::vector<Case> cases;
  for (int idx = 0; idx < count; ++idx) {
    Case test_case;
    for (int token = 0; token < vocab_size; ++token) {
      test_case.logits.push_back(normal(random));
    }
    test_case.params.seed = random();
    test_case.params.temperature = 0.25F * static_cast<float>(idx % 5);
    test_case.params.top_k = idx % 3 == 0 ? 40 : 0;
    test_case.params.top_p = idx % 4 == 0 ? 0.8F : 1.0F;
    test_case.params.min_p = idx % 5 == 0 ? 0.02F : 0.0F;
    test_case.params.repetition_penalty = idx % 6 == 0 ? 1.3F : 1.0F;
    test_case.params.presence_penalty = idx % 7 == 0 ? 0.5F : 0.0F;
    test_case.params.num_logprobs = 5;
    test_case.prompt.assign(static_cast<std::size_t>(1 + idx), idx % vocab_size);
    test_case.output = {1, 2, 1};
    test_case.choice = idx % 2;
    cases.push_back(test_case);
  }
  return cases;
}

bool same_bits(const SampledToken& a, const SampledToken& b) {
  const auto same = [](const TokenLogprob& x, const TokenLogprob& y) {
    return x.token == y.token && x.logprob == y.logprob && x.rank == y.rank;
  };
  return a.token == b.token && same(*a.logprob, *b.logprob) &&
         std::equal(
             a.top_logprobs.begin(),
             a.top_logprobs.end(),
             b.top_logprobs.begin(),
             b.top_logprobs.end(),
             same
         );
}

TEST(Sampler, SameBitsAloneInABatchAndOnAnyNumberOfThreads) {
  const std::vector<Case> cases = random_cases(24, 600);
  std::vector<SamplerRow> rows;
  for (const Case& test_case : cases) {
    rows.push_back(test_case.row());
  }
  for (const int num_threads : {1, 2, 3}) {
    ThreadPool pool(num_threads);
    for (const CpuLevel level : {CpuLevel::kReference, CpuLevel::kScalar, best_cpu_level()}) {
      Sampler sampler(600, 24, Stream{.pool = &pool, .level = level});
      const auto results = sampler.sample(rows);
      for (std::size_t idx = 0; idx < cases.size(); ++idx) {
        EXPECT_TRUE(same_bits(results[idx].sampled, sample_one(cases[idx]).sampled)) << idx;
      }
    }
  }
}

TEST(Sampler, AllocatesNothingOnceWarm) {
  const std::vector<Case> cases = random_cases(24, 600);
  std::vector<SamplerRow> rows;
  for (const Case& test_case : cases) {
    rows.push_back(test_case.row());
  }
  ThreadPool pool(2);
  Sampler sampler(600, 24, Stream{.pool = &pool});
  static_cast<void>(sampler.sample(rows));
  const std::uint64_t before = num_allocations();
  static_cast<void>(sampler.sample(rows));
  EXPECT_EQ(num_allocations(), before);
}

}  // namespace
}  // namespace rapt
