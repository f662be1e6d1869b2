#include "scheduler/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "support/allocation_counter.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Request make_request(RequestId id, int num_prompt, int max_tokens) {
  Request request;
  request.id = id;
  request.prompt.assign(static_cast<std::size_t>(num_prompt), 3);
  request.stop.max_tokens = max_tokens;
  return request;
}

// A scheduler with room for everybody, whose steps draw what the test says.
class SchedulerTest : public ::testing::Test {
 protected:
  std::span<const TokenEvent> step(const SampledToken& sampled) {
    const StepPlan& plan = scheduler.plan();
    result.slices.clear();
    for (const StepSlice& slice : plan.slices) {
      result.slices.emplace_back();
      if (slice.samples) {
        result.slices.back().tokens = {&sampled, 1};
      }
    }
    return scheduler.commit(result);
  }

  std::span<const TokenEvent> step(TokenId token) {
    last.token = token;
    return step(last);
  }

  KVCacheManager kv{
      {KVGroupSpec{}, KVGroupSpec{.kind = KVGroupKind::kSliding, .window = 8, .num_layers = 1}},
      std::array{64, 32},
      4};
  Scheduler scheduler{
      SchedulerConfig{.max_num_seqs = 8, .max_num_batched_tokens = 16, .max_model_len = 64}, kv};
  StepResult result;
  SampledToken last;
};

TEST_F(SchedulerTest, EventsCarryTheTokenAndItsLogprobs) {
  const Request request = make_request(5, 3, 4);
  scheduler.add(make_sequence(request, 2));
  const SampledToken sampled{
      .token = 9,
      .logprob = TokenLogprob{.token = 9, .logprob = -0.5F, .rank = 2},
      .top_logprobs = {{.token = 8, .logprob = -0.25F, .rank = 1}}};
  auto events = step(sampled);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].request_id, 5U);
  EXPECT_EQ(events[0].choice, 2);
  EXPECT_EQ(events[0].token, 9);
  EXPECT_EQ(events[0].logprob->rank, 2);
  EXPECT_EQ(events[0].top_logprobs.at(0).token, 8);
  EXPECT_FALSE(events[0].finish.has_value());
  // Nothing of it is left in the next event.
  events = step(7);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].token, 7);
  EXPECT_FALSE(events[0].logprob.has_value());
  EXPECT_THAT(events[0].top_logprobs, IsEmpty());
}

TEST_F(SchedulerTest, TheLastTokenAndTheEndAreOneEvent) {
  const Request request = make_request(1, 3, 1);
  scheduler.add(make_sequence(request, 0));
  const auto events = step(9);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].token, 9);
  ASSERT_TRUE(events[0].finish.has_value());
  EXPECT_EQ(events[0].finish->reason, FinishReason::kLength);
  EXPECT_TRUE(scheduler.is_idle());
  EXPECT_EQ(kv.num_blocks_used(), 0);
}

TEST_F(SchedulerTest, AWaitingSequenceHoldsNoTokens) {
  const Request request = make_request(1, 12, 30);
  auto sequence = make_sequence(request, 0);
  EXPECT_EQ(sequence->tokens.capacity(), 0U);
  EXPECT_EQ(sequence->num_prompt(), 12);
  const Sequence& added = *sequence;
  scheduler.add(std::move(sequence));
  static_cast<void>(step(1));
  EXPECT_EQ(added.num_computed, 12);
  EXPECT_EQ(added.num_output(), 1);
  EXPECT_THAT(added.output(), ElementsAre(1));
  EXPECT_GE(added.tokens.capacity(), 42U);
}

TEST_F(SchedulerTest, CountsThePromptTokensOfAPlan) {
  const Request request = make_request(1, 20, 5);
  scheduler.add(make_sequence(request, 0));
  EXPECT_EQ(scheduler.plan().num_prompt_tokens, 16);
  result.slices.assign(1, SliceResult{});
  static_cast<void>(scheduler.commit(result));
  const StepPlan& plan = scheduler.plan();
  EXPECT_EQ(plan.num_prompt_tokens, 4);
  EXPECT_EQ(plan.num_tokens, 4);
  EXPECT_EQ(plan.num_sampled, 1);
  result.slices[0].tokens = {&last, 1};
  static_cast<void>(scheduler.commit(result));
  EXPECT_EQ(scheduler.plan().num_prompt_tokens, 0);
}

// Says that a stop string ends at each of some tokens, and writes down what it saw.
class FakeMatcher : public StopMatcher {
 public:
  FakeMatcher(std::vector<TokenId>& seen, std::vector<TokenId> hits)
      : seen_(seen), hits_(std::move(hits)) {}

  std::optional<int> accept(TokenId token) override {
    seen_.push_back(token);
    for (std::size_t idx = 0; idx < hits_.size(); ++idx) {
      if (hits_[idx] == token) {
        return static_cast<int>(idx);
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<TokenId>& seen_;
  std::vector<TokenId> hits_;
};

TEST_F(SchedulerTest, AStopStringEndsTheChoice) {
  std::vector<TokenId> seen;
  Request request = make_request(1, 3, 10);
  request.stop.make_stop_matcher = [&seen] {
    return std::make_unique<FakeMatcher>(seen, std::vector<TokenId>{50, 60});
  };
  scheduler.add(make_sequence(request, 0));
  EXPECT_FALSE(step(4)[0].finish.has_value());
  const auto events = step(60);
  ASSERT_TRUE(events[0].finish.has_value());
  EXPECT_EQ(events[0].finish->reason, FinishReason::kStop);
  EXPECT_EQ(events[0].finish->stop_string, 1);
  EXPECT_FALSE(events[0].finish->stop_token.has_value());
  EXPECT_THAT(seen, ElementsAre(4, 60));
}

TEST_F(SchedulerTest, StopStringsBeforeMinTokensAreSeenButDoNotCount) {
  std::vector<TokenId> seen;
  Request request = make_request(1, 3, 10);
  request.stop.min_tokens = 2;
  request.stop.make_stop_matcher = [&seen] {
    return std::make_unique<FakeMatcher>(seen, std::vector<TokenId>{50});
  };
  scheduler.add(make_sequence(request, 0));
  EXPECT_FALSE(step(50)[0].finish.has_value());
  EXPECT_FALSE(step(50)[0].finish.has_value());
  EXPECT_TRUE(step(50)[0].finish.has_value());
  EXPECT_THAT(seen, ElementsAre(50, 50, 50));
}

class FakeConstraint : public TokenConstraint {
 public:
  explicit FakeConstraint(std::vector<TokenId>& seen) : seen_(seen) {}

  void fill_mask(std::span<std::uint32_t>) override {}

  void accept(TokenId token) override { seen_.push_back(token); }

  void rollback(int) override {}

 private:
  std::vector<TokenId>& seen_;
};

TEST_F(SchedulerTest, TheConstraintFollowsTheTokens) {
  std::vector<TokenId> seen;
  Request request = make_request(1, 3, 3);
  request.make_constraint = [&seen] { return std::make_unique<FakeConstraint>(seen); };
  scheduler.add(make_sequence(request, 0));
  for (const TokenId token : {4, 5, 6}) {
    static_cast<void>(step(token));
  }
  EXPECT_THAT(seen, ElementsAre(4, 5, 6));
}

TEST_F(SchedulerTest, AFailedSliceSaysWhy) {
  const Request request = make_request(1, 3, 3);
  scheduler.add(make_sequence(request, 0));
  static_cast<void>(scheduler.plan());
  result.slices.assign(1, SliceResult{.error = "logits are NaN"});
  const auto events = scheduler.commit(result);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_FALSE(events[0].token.has_value());
  EXPECT_EQ(events[0].finish->reason, FinishReason::kError);
  EXPECT_EQ(events[0].finish->error, "logits are NaN");
}

TEST_F(SchedulerTest, EndAllEndsTheRunningAndTheWaiting) {
  std::vector<Request> requests;
  for (RequestId id = 1; id <= 10; ++id) {
    requests.push_back(make_request(id, 4, 5));
  }
  for (const Request& request : requests) {
    scheduler.add(make_sequence(request, 0));
  }
  static_cast<void>(step(1));
  EXPECT_EQ(scheduler.stats().num_running, 4);
  EXPECT_EQ(scheduler.stats().num_waiting, 6);
  const auto events =
      scheduler.end_all(FinishInfo{.reason = FinishReason::kError, .error = "device lost"});
  ASSERT_THAT(events, SizeIs(10));
  for (const TokenEvent& event : events) {
    EXPECT_EQ(event.finish->error, "device lost");
  }
  EXPECT_TRUE(scheduler.is_idle());
  EXPECT_EQ(kv.num_blocks_used(), 0);
}

TEST_F(SchedulerTest, GivesItsBlocksBackWhenDestroyed) {
  const Request request = make_request(1, 10, 5);
  {
    Scheduler other(
        SchedulerConfig{.max_num_seqs = 8, .max_num_batched_tokens = 16, .max_model_len = 64}, kv
    );
    other.add(make_sequence(request, 0));
    static_cast<void>(other.plan());
    EXPECT_GT(kv.num_blocks_used(), 0);
  }
  EXPECT_EQ(kv.num_blocks_used(), 0);
}

TEST_F(SchedulerTest, ADecodingStepAllocatesNothing) {
  std::vector<Request> requests;
  for (RequestId id = 1; id <= 8; ++id) {
    requests.push_back(make_request(id, 2, 50));
  }
  requests.push_back(make_request(9, 60, 4));  // waits all the time, and is tried each step
  for (const Request& request : requests) {
    scheduler.add(make_sequence(request, 0));
  }
  last.logprob = TokenLogprob{};
  last.top_logprobs.resize(5);
  static_cast<void>(step(1));
  static_cast<void>(step(1));
  const std::uint64_t before = num_allocations();
  for (int count = 0; count < 40; ++count) {
    static_cast<void>(step(1));
  }
  EXPECT_EQ(num_allocations(), before);
  EXPECT_EQ(scheduler.stats().num_running, 8);
  EXPECT_EQ(scheduler.stats().num_waiting, 1);
}

TEST(SchedulerAllocation, ANewcomerThatDoesNotFitYetCostsNothing) {
  KVCacheManager kv({KVGroupSpec{}}, std::array{10}, 4);
  Scheduler scheduler(
      SchedulerConfig{.max_num_seqs = 4, .max_num_batched_tokens = 16, .max_model_len = 40}, kv
  );
  const Request first = make_request(1, 4, 36);
  const Request second = make_request(2, 40, 0);
  scheduler.add(make_sequence(first, 0));
  scheduler.add(make_sequence(second, 0));
  StepResult result;
  const SampledToken sampled{.token = 1};
  std::uint64_t before = 0;
  int num_quiet_steps = 0;
  for (int count = 0; count < 30; ++count) {
    before = num_allocations();
    const StepPlan& plan = scheduler.plan();
    result.slices.clear();
    for (const StepSlice& slice : plan.slices) {
      result.slices.emplace_back();
      if (slice.samples) {
        result.slices.back().tokens = {&sampled, 1};
      }
    }
    static_cast<void>(scheduler.commit(result));
    num_quiet_steps += num_allocations() == before ? 1 : 0;
  }
  EXPECT_GE(num_quiet_steps, 27);
}

using SchedulerDeathTest = SchedulerTest;

TEST_F(SchedulerDeathTest, RefusesMisuse) {
  const Request request = make_request(1, 3, 3);
  scheduler.add(make_sequence(request, 0));
  EXPECT_DEATH(static_cast<void>(scheduler.commit(StepResult{})), "nothing was planned");
  static_cast<void>(scheduler.plan());
  EXPECT_DEATH(static_cast<void>(scheduler.plan()), "not committed");
  EXPECT_DEATH(static_cast<void>(scheduler.cancel(1)), "under way");
  EXPECT_DEATH(static_cast<void>(scheduler.commit(StepResult{})), "0 results");
  const Request empty = make_request(2, 0, 3);
  EXPECT_DEATH(scheduler.add(make_sequence(empty, 0)), "no prompt");
  const Request longer = make_request(3, 65, 3);
  EXPECT_DEATH(scheduler.add(make_sequence(longer, 0)), "prompt of 65");
}

TEST(SchedulerLimits, AllThatARequestCanUse) {
  EXPECT_EQ(Scheduler::max_positions(make_request(1, 10, 5), 64), 15);
  EXPECT_EQ(Scheduler::max_positions(make_request(1, 10, 2147483647), 64), 64);
}

}  // namespace
}  // namespace rapt
