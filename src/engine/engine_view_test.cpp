#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "engine/engine_view_internal.h"
#include "support/allocation_counter.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A view of a scheduler whose steps compute nothing and draw the token 1.
class EngineViewTest : public ::testing::Test {
 protected:
  static constexpr int kBlockSize = 4;

  void make(int max_num_seqs, int max_num_batched_tokens, int num_full_blocks) {
    const std::vector<KVGroupSpec> groups = {
        KVGroupSpec{}, KVGroupSpec{.kind = KVGroupKind::kSliding, .window = 8, .num_layers = 1}};
    kv.emplace(groups, std::vector<int>{num_full_blocks, 40}, kBlockSize);
    scheduler.emplace(
        SchedulerConfig{
            .max_num_seqs = max_num_seqs,
            .max_num_batched_tokens = max_num_batched_tokens,
            .max_model_len = 64},
        *kv
    );
    view.emplace(*scheduler, *kv);
  }

  void add(RequestId id, int num_prompt, int max_tokens) {
    Request& request = requests.emplace_back();
    request.id = id;
    request.client_id = "id-" + std::to_string(id);
    request.prompt.assign(static_cast<std::size_t>(num_prompt), 3);
    request.stop.max_tokens = max_tokens;
    scheduler->add(make_sequence(request, 0));
  }

  // Up to the run; the view has seen the plan.
  void begin() {
    plan = &scheduler->plan();
    view->begin_step(*plan);
  }

  void end() {
    const SampledToken sampled{.token = 1};
    StepResult result;
    for (const StepSlice& slice : plan->slices) {
      result.slices.emplace_back();
      if (slice.samples) {
        result.slices.back().tokens = {&sampled, 1};
      }
    }
    const int num_prompt_tokens = plan->num_prompt_tokens;
    const int num_sampled = plan->num_sampled;
    scheduler->commit(result);
    view->end_step(num_prompt_tokens, num_sampled);
  }

  std::deque<Request> requests;
  std::optional<KVCacheManager> kv;
  std::optional<Scheduler> scheduler;
  std::optional<EngineView> view;
  const StepPlan* plan = nullptr;
};

TEST_F(EngineViewTest, BeforeTheFirstStepAllIsFree) {
  make(2, 16, 64);
  const EngineSnapshot seen = view->read(0);
  EXPECT_THAT(seen.running, IsEmpty());
  EXPECT_THAT(seen.seconds, IsEmpty());
  ASSERT_THAT(seen.kv_groups, SizeIs(2));
  EXPECT_THAT(seen.kv_groups[0].cells, SizeIs(64));
  EXPECT_EQ(seen.kv_groups[0].num_used, 0);
}

TEST_F(EngineViewTest, SequencesAndTheirBlocksAreShownDuringTheStep) {
  make(4, 16, 64);
  add(7, 10, 5);
  add(8, 3, 9);
  begin();
  const EngineSnapshot seen = view->read(0);
  EXPECT_TRUE(seen.step.is_running);
  EXPECT_EQ(seen.step.num_tokens, 13);
  EXPECT_EQ(seen.step.num_prompt_tokens, 13);
  EXPECT_EQ(seen.step.max_tokens, 16);
  ASSERT_THAT(seen.running, SizeIs(2));
  const SequenceSnapshot& first = seen.running[0];
  EXPECT_EQ(first.client_id, "id-7");
  EXPECT_EQ(first.phase, SequencePhase::kPrefill);
  EXPECT_EQ(first.num_prompt, 10);
  EXPECT_EQ(first.num_scheduled, 10);
  EXPECT_EQ(first.max_output, 5);
  EXPECT_EQ(first.num_blocks, 6) << "three of each group";
  EXPECT_EQ(seen.kv_groups[0].num_used, 4);
  int num_of_second = 0;
  for (const KVCell& cell : seen.kv_groups[0].cells) {
    num_of_second += cell.owner == 2 ? cell.num_used : 0;
  }
  EXPECT_EQ(num_of_second, 1);
  end();
  begin();
  const EngineSnapshot later = view->read(0);
  EXPECT_EQ(later.step.number, 2U);
  EXPECT_EQ(later.running[0].phase, SequencePhase::kDecode);
  EXPECT_EQ(later.running[0].num_output, 1);
}

TEST_F(EngineViewTest, TheQueueKnowsWhyItWaits) {
  make(1, 16, 64);
  add(1, 3, 5);
  add(2, 3, 5);
  add(3, 3, 5);
  begin();
  const EngineSnapshot seen = view->read(0);
  ASSERT_THAT(seen.waiting, SizeIs(2));
  EXPECT_EQ(seen.waiting[0].wait, WaitReason::kSequences);
  EXPECT_EQ(seen.waiting[0].phase, SequencePhase::kWaiting);
  EXPECT_EQ(seen.waiting[0].num_output, 0);
  EXPECT_EQ(seen.waiting[1].wait, WaitReason::kOthers);
}

TEST_F(EngineViewTest, TokensMayBeUsedUp) {
  make(4, 8, 64);
  add(1, 20, 5);
  add(2, 3, 5);
  begin();
  EXPECT_EQ(view->read(0).waiting.at(0).wait, WaitReason::kTokens);
}

TEST_F(EngineViewTest, BlocksMayBeShort) {
  make(4, 64, 16);
  add(1, 30, 30);  // 8 of the 16 blocks now, 15 in the end
  begin();
  end();
  view->read(0);
  add(2, 30, 10);  // gets the one block that is safe
  add(3, 3, 5);
  begin();
  EngineSnapshot seen = view->read(0);
  ASSERT_THAT(seen.running, SizeIs(2));
  EXPECT_EQ(seen.running[1].num_scheduled, 4);
  EXPECT_EQ(seen.waiting.at(0).wait, WaitReason::kBlocks);
  end();
  begin();
  seen = view->read(0);
  EXPECT_EQ(seen.running[0].wait, WaitReason::kNone);
  EXPECT_EQ(seen.running[1].wait, WaitReason::kBlocks) << "paused";
  EXPECT_EQ(seen.running[1].num_scheduled, 0);
}

TEST_F(EngineViewTest, WhatHasEndedIsNotShownToTheNextVisitor) {
  make(2, 16, 64);
  add(1, 3, 1);
  begin();
  EXPECT_THAT(view->read(0).running, SizeIs(1));
  end();
  EXPECT_THAT(view->read(0).running, IsEmpty());
  EXPECT_FALSE(view->read(0).step.is_running);
  EXPECT_EQ(view->read(0).kv_groups[0].num_used, 0);
}

TEST_F(EngineViewTest, CancelsBetweenStepsAreSeenToo) {
  make(2, 16, 64);
  add(1, 3, 9);
  begin();
  view->read(0);
  end();
  begin();
  EXPECT_THAT(view->read(0).running, SizeIs(1));
  end();
  scheduler->cancel(1);
  view->note_idle();
  EXPECT_THAT(view->read(0).running, IsEmpty());
}

TEST_F(EngineViewTest, OnlyAReaderMakesTheNextSnapshot) {
  make(2, 16, 64);
  add(1, 3, 20);
  for (int step = 1; step <= 3; ++step) {
    begin();
    end();
  }
  EXPECT_EQ(view->read(0).step.number, 1U);
  begin();
  EXPECT_EQ(view->read(0).step.number, 4U);
}

TEST_F(EngineViewTest, SecondsAddUpTheirSteps) {
  make(2, 16, 64);
  add(1, 10, 20);
  for (int step = 0; step < 3; ++step) {
    begin();
    if (step == 0) {
      view->note_first_token(0.5);
    } else {
      view->note_gap(0.25 * step);
    }
    end();
  }
  EngineSecond sum;
  for (const EngineSecond& second : view->read(0).seconds) {
    sum.num_steps += second.num_steps;
    sum.num_prompt_tokens += second.num_prompt_tokens;
    sum.num_generated_tokens += second.num_generated_tokens;
    sum.num_first_tokens += second.num_first_tokens;
    sum.first_token_seconds += second.first_token_seconds;
    sum.num_gaps += second.num_gaps;
    sum.gap_seconds += second.gap_seconds;
    sum.max_gap_seconds = std::max(sum.max_gap_seconds, second.max_gap_seconds);
    EXPECT_EQ(second.num_running, 1);
  }
  EXPECT_EQ(sum.num_steps, 3);
  EXPECT_EQ(sum.num_prompt_tokens, 10);
  EXPECT_EQ(sum.num_generated_tokens, 3);
  EXPECT_EQ(sum.num_first_tokens, 1);
  EXPECT_DOUBLE_EQ(sum.first_token_seconds, 0.5);
  EXPECT_EQ(sum.num_gaps, 2);
  EXPECT_DOUBLE_EQ(sum.gap_seconds, 0.75);
  EXPECT_DOUBLE_EQ(sum.max_gap_seconds, 0.5);
  EXPECT_THAT(view->read(view->read(0).now + 1).seconds, IsEmpty());
}

TEST_F(EngineViewTest, ALargeCacheIsShownInFewCells) {
  make(2, 16, 5000);
  add(1, 9, 5);
  begin();
  const KVGroupSnapshot group = view->read(0).kv_groups[0];
  EXPECT_EQ(group.blocks_per_cell, 5);
  EXPECT_THAT(group.cells, SizeIs(1000));
  int num_used = 0;
  for (const KVCell& cell : group.cells) {
    num_used += cell.num_used;
  }
  EXPECT_EQ(num_used, 3);
}

TEST_F(EngineViewTest, WithoutReadersNothingIsAllocated) {
  make(2, 16, 64);
  add(1, 3, 50);
  begin();
  end();
  const StepPlan& next = scheduler->plan();
  const std::uint64_t before = num_allocations();
  for (int count = 0; count < 10; ++count) {
    view->begin_step(next);
    view->note_gap(0.1);
    view->end_step(0, 1);
  }
  EXPECT_EQ(num_allocations(), before);
}

}  // namespace
}  // namespace rapt
