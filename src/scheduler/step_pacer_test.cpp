#include "scheduler/step_pacer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace rapt {
namespace {

using Cost = std::function<double(int num_tokens)>;

constexpr int kMaxTokens = 512;
constexpr double kTarget = 0.4;

// A model whose every step reads its weights once, 0.2 s, and computes for 5 ms a token.
double slow(int num_tokens) {
  return 0.2 + 0.005 * num_tokens;
}

// How many tokens of `slow` take the target.
constexpr int kSlowFits = 40;

// Whichever takes longer: reading the weights or computing.
double dense(int num_tokens) {
  return std::max(0.1, 0.002 * num_tokens);
}

double fast(int num_tokens) {
  return 0.001 + 0.0001 * num_tokens;
}

class StepPacerTest : public ::testing::Test {
 protected:
  // Steps that take what the pacer lets them, with `num_decodes` decoding; the seconds of each.
  std::vector<double> run(const Cost& cost, int num_steps, int num_decodes = 2) {
    std::vector<double> all;
    for (int count = 0; count < num_steps; ++count) {
      const int num_tokens =
          std::min(num_decodes + pacer.max_prompt_tokens(num_decodes), kMaxTokens);
      all.push_back(cost(num_tokens));
      pacer.note_step(num_tokens, all.back());
    }
    return all;
  }

  // Tokens in all that the pacer would allow.
  int fitting(int num_decodes = 2) const {
    return num_decodes + pacer.max_prompt_tokens(num_decodes);
  }

  StepPacer pacer{{.target_seconds = kTarget, .min_prompt_tokens = 8}, kMaxTokens};
};

TEST_F(StepPacerTest, BeginsWithLittle) {
  EXPECT_EQ(fitting(0), 8);
  EXPECT_EQ(pacer.max_prompt_tokens(60), 8);
  EXPECT_EQ(StepPacer({.target_seconds = 1.0}, 40).max_prompt_tokens(0), 32);
  EXPECT_TRUE(pacer.slows_prompts());
}

TEST_F(StepPacerTest, WithoutATargetEverythingFits) {
  StepPacer whole({}, kMaxTokens);
  whole.note_step(kMaxTokens, 1000.0);
  EXPECT_EQ(whole.max_prompt_tokens(0), kMaxTokens);
  EXPECT_EQ(whole.max_prompt_tokens(100), kMaxTokens);
}

TEST_F(StepPacerTest, AFastModelTakesWholeChunks) {
  run(fast, 4);
  EXPECT_EQ(fitting(), kMaxTokens);
  EXPECT_FALSE(pacer.slows_prompts());
}

TEST_F(StepPacerTest, ASlowModelTakesWhatFits) {
  for (const double seconds : run(slow, 20)) {
    EXPECT_LE(seconds, kTarget);
  }
  EXPECT_NEAR(fitting(), kSlowFits, 2);
  EXPECT_TRUE(pacer.slows_prompts());
  EXPECT_NEAR(run(slow, 1).front(), kTarget, 0.02);
}

TEST_F(StepPacerTest, ComesNearFromAboveWithoutPassing) {
  run(fast, 6);
  EXPECT_EQ(fitting(), kMaxTokens);
  for (const double seconds : run(slow, 40)) {
    EXPECT_GE(seconds, kTarget - 0.006);  // a token, and rounding
  }
  EXPECT_NEAR(fitting(), kSlowFits, 2);
}

TEST_F(StepPacerTest, SlowsPromptsBelowHalfOfAStep) {
  pacer.note_step(250, kTarget);
  EXPECT_TRUE(pacer.slows_prompts());
  for (int count = 0; count < 10; ++count) {
    pacer.note_step(260, kTarget);
  }
  EXPECT_FALSE(pacer.slows_prompts());
  EXPECT_FALSE(StepPacer({}, kMaxTokens).slows_prompts());
}

TEST_F(StepPacerTest, AModelThatComputesWhileItReadsTakesWhatFits) {
  run(dense, 20);
  EXPECT_NEAR(fitting(), 200, 4);
}

TEST_F(StepPacerTest, PromptsGiveWayToDecodes) {
  run(slow, 20);
  EXPECT_NEAR(pacer.max_prompt_tokens(1), kSlowFits - 1, 2);
  EXPECT_NEAR(pacer.max_prompt_tokens(20), kSlowFits - 20, 2);
  EXPECT_EQ(pacer.max_prompt_tokens(39), 8);
  EXPECT_EQ(pacer.max_prompt_tokens(500), 8);
}

TEST_F(StepPacerTest, SmallStepsUnteachNothing) {
  run(slow, 20);
  const int before = fitting();
  for (int num_tokens = 1; num_tokens < kSlowFits - 4; ++num_tokens) {
    pacer.note_step(num_tokens, slow(num_tokens));
  }
  EXPECT_EQ(fitting(), before);
}

TEST_F(StepPacerTest, WholeChunksOfLonelyPromptsUnteachNothing) {
  run(slow, 20);
  const int before = fitting();
  for (int count = 0; count < 20; ++count) {
    pacer.note_step(kMaxTokens, slow(kMaxTokens));
  }
  EXPECT_EQ(fitting(), before);
}

TEST_F(StepPacerTest, AWholeChunkAtTheStartTeachesMuch) {
  StepPacer wide({.target_seconds = 1.0}, kMaxTokens);
  wide.note_step(kMaxTokens, 16.0);
  EXPECT_EQ(wide.max_prompt_tokens(0), 32);
  wide.note_step(kMaxTokens, 0.9);
  EXPECT_GT(wide.max_prompt_tokens(0), 120);
}

TEST_F(StepPacerTest, OneSlowStepIsSoonForgotten) {
  run(slow, 20);
  pacer.note_step(fitting(), 60.0);
  EXPECT_GE(fitting(), kSlowFits / 2 - 1);
  run(slow, 10);
  EXPECT_GE(fitting(), kSlowFits - 4);
}

TEST_F(StepPacerTest, FollowsALoadThatComesAndGoes) {
  run(slow, 20);
  const Cost loaded = [](int num_tokens) { return 1.5 * slow(num_tokens); };
  EXPECT_GT(run(loaded, 8).front(), kTarget);
  // 0.4 / 1.5 s is what `slow` takes for 13.
  EXPECT_NEAR(fitting(), 13, 3);
  for (const double seconds : run(loaded, 10)) {
    EXPECT_LE(seconds, kTarget * 1.1);
  }
  run(slow, 20);
  EXPECT_NEAR(fitting(), kSlowFits, 3);
}

TEST_F(StepPacerTest, KeepsTheTargetUnderNoise) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1.0, 0.08);
  const Cost noisy = [&](int num_tokens) { return slow(num_tokens) * noise(random); };
  run(noisy, 20);
  const std::vector<double> all = run(noisy, 1000);
  double sum = 0.0;
  int num_late = 0;
  for (const double seconds : all) {
    sum += seconds;
    num_late += seconds > kTarget * 1.2 ? 1 : 0;
  }
  EXPECT_LE(sum / 1000, kTarget);
  EXPECT_GE(sum / 1000, kTarget * 0.85);
  EXPECT_LE(num_late, 20);
}

TEST_F(StepPacerTest, TimesThatTellNothingAreIgnored) {
  run(slow, 20);
  const int before = fitting();
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    pacer.note_step(100, seconds);
    EXPECT_EQ(fitting(), before);
  }
  pacer.note_step(0, 1.0);
  EXPECT_EQ(fitting(), before);
}

TEST_F(StepPacerTest, StaysWithinItsBounds) {
  pacer.note_step(1, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(fitting(0), kMaxTokens);
  for (int count = 0; count < 40; ++count) {
    pacer.note_step(1, std::numeric_limits<double>::infinity());
  }
  EXPECT_EQ(fitting(0), 8);
  StepPacer tiny({.target_seconds = 1.0, .min_prompt_tokens = 32}, 4);
  EXPECT_EQ(tiny.max_prompt_tokens(0), 4);
  EXPECT_EQ(tiny.max_prompt_tokens(3), 4);
}

TEST_F(StepPacerTest, RecoversFromStepsThatDecodesAloneMakeTooLong) {
  for (int count = 0; count < 20; ++count) {
    pacer.note_step(1, 2.0);
  }
  EXPECT_EQ(pacer.max_prompt_tokens(1), 8);
  run(fast, 6);
  EXPECT_EQ(fitting(), kMaxTokens);
}

TEST(StepPacerDeathTest, RefusesATargetInThePast) {
  EXPECT_DEATH(StepPacer({.target_seconds = -1.0}, 8), "target_seconds=-1");
}

}  // namespace
}  // namespace rapt
