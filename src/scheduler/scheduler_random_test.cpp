// Many random crowds in tiny caches, played to their end. What must hold: budgets, first come first
// served, nobody loses a block, no step without progress, and everyone gets all of its tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "scheduler/scheduler.h"

namespace rapt {
namespace {

class Crowd {
 public:
  explicit Crowd(unsigned seed) : random_(seed) {
    std::vector<KVGroupSpec> groups;
    std::vector<int> num_blocks;
    for (int count = pick(1, 3); count > 0; --count) {
      KVGroupSpec group;
      if (pick(0, 1) == 0) {
        group = {.kind = KVGroupKind::kSliding, .window = pick(1, 9), .num_layers = 1};
      }
      groups.push_back(group);
      num_blocks.push_back(pick(3, 14));
    }
    kv_ = std::make_unique<KVCacheManager>(groups, num_blocks, pick(1, 4));
    config_ = {
        .max_num_seqs = pick(1, 6),
        .max_num_batched_tokens = pick(1, 12),
        .max_model_len = std::min(kv_->max_positions(), pick(4, 50)),
        .pace = {
            .target_seconds = static_cast<double>(pick(0, 2)), .min_prompt_tokens = pick(1, 4)}};
    scheduler_ = std::make_unique<Scheduler>(config_, *kv_);
  }

  // Adds to `num_paused` how often a sequence was left out of a step for want of a block.
  void play(int& num_paused) {
    int num_to_come = 14;
    int num_steps = 0;
    while (num_to_come > 0 || !scheduler_->is_idle()) {
      while (num_to_come > 0 && (scheduler_->is_idle() || pick(0, 2) == 0)) {
        arrive();
        --num_to_come;
      }
      if (pick(0, 19) == 0) {
        const RequestId id = 1 + static_cast<RequestId>(pick(0, 13));
        note(scheduler_->cancel(id), {});
      }
      if (scheduler_->is_idle()) {
        continue;
      }
      step();
      if (::testing::Test::HasFatalFailure()) {
        return;
      }
      ASSERT_LT(++num_steps, 14 * 60) << "somebody starves";
    }
    ASSERT_EQ(kv_->num_blocks_used(), 0);
    for (const auto& [id, request] : requests_) {
      ASSERT_EQ(num_finished_[id], 1) << "request " << id;
    }
    num_paused += num_paused_;
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }

  void arrive() {
    const RequestId id = requests_.size() + 1;
    Request& request = requests_[id];
    request.id = id;
    request.prompt.assign(static_cast<std::size_t>(pick(1, config_.max_model_len)), 1);
    request.stop.max_tokens = pick(0, 20);
    request.stop.eos_token_ids = {7};
    scheduler_->add(make_sequence(request, 0));
  }

  void step() {
    const StepPlan& plan = scheduler_->plan();
    ASSERT_FALSE(plan.empty());
    ASSERT_LE(plan.num_tokens, plan.max_tokens);
    ASSERT_LE(plan.max_tokens, config_.max_num_batched_tokens);
    ASSERT_LE(scheduler_->stats().num_running, config_.max_num_seqs);
    num_paused_ += scheduler_->stats().num_paused;
    StepResult result;
    std::vector<SampledToken> sampled(plan.slices.size());
    std::map<RequestId, int> expected_output;
    int num_tokens = 0;
    for (std::size_t idx = 0; idx < plan.slices.size(); ++idx) {
      const StepSlice& slice = plan.slices[idx];
      const Sequence& sequence = *slice.sequence;
      const RequestId id = sequence.request->id;
      ASSERT_EQ(slice.first_position, num_computed_[id]) << "a position was left out or redone";
      ASSERT_GE(slice.num_tokens, 1);
      if (slice.first_position == 0) {
        ASSERT_GT(id, last_admitted_) << "overtaken";
        last_admitted_ = id;
      }
      num_computed_[id] += slice.num_tokens;
      num_tokens += slice.num_tokens;
      check_blocks(sequence, slice);
      result.slices.emplace_back();
      if (pick(0, 99) == 0) {
        result.slices.back().error = "bad luck";
      } else if (slice.samples) {
        sampled[idx].token = pick(0, 30) == 0 ? 7 : 1;
        result.slices.back().tokens = {&sampled[idx], 1};
        expected_output[id] = sequence.num_output() + 1;
      }
    }
    ASSERT_EQ(num_tokens, plan.num_tokens);
    // Any pace will do, also one that no machine has.
    note(scheduler_->commit(result, pick(0, 40) / 10.0), expected_output);
  }

  // Blocks that a sequence had stay the same until the window has left them; two never share one.
  void check_blocks(const Sequence& sequence, const StepSlice& slice) {
    for (int group_idx = 0; group_idx < kv_->num_groups(); ++group_idx) {
      const auto table = sequence.blocks.table(group_idx);
      auto& known = known_blocks_[{sequence.request->id, group_idx}];
      for (std::size_t idx = 0; idx < known.size(); ++idx) {
        ASSERT_TRUE(table[idx] == known[idx] || table[idx] == BlockTables::kNoBlock);
      }
      known.assign(table.begin(), table.end());
      const KVGroupSpec& group = kv_->group(group_idx);
      const int reach = group.kind == KVGroupKind::kFull ? slice.first_position : group.window - 1;
      for (int position = std::max(0, slice.first_position - reach);
           position < slice.end_position();
           ++position) {
        const auto block_idx = static_cast<std::size_t>(position / kv_->block_size());
        ASSERT_GE(table[block_idx], 0);
        ASSERT_EQ(kv_->pool(group_idx).num_references(table[block_idx]), 1);
      }
    }
  }

  void note(std::span<const TokenEvent> events, const std::map<RequestId, int>& expected_output) {
    for (const TokenEvent& event : events) {
      if (!event.finish) {
        continue;
      }
      const RequestId id = event.request_id;
      ++num_finished_[id];
      const Request& request = requests_.at(id);
      if (event.finish->reason == FinishReason::kLength && request.stop.max_tokens > 0) {
        const int room = config_.max_model_len - static_cast<int>(request.prompt.size());
        const int expected = std::min(request.stop.max_tokens, std::max(room, 1));
        ASSERT_EQ(expected_output.at(id), expected);
      }
    }
  }

  std::mt19937 random_;
  std::map<RequestId, Request> requests_;  // nodes stay where they are
  std::unique_ptr<KVCacheManager> kv_;
  SchedulerConfig config_;
  std::unique_ptr<Scheduler> scheduler_;
  std::map<RequestId, int> num_computed_;
  std::map<RequestId, int> num_finished_;
  std::map<std::pair<RequestId, int>, std::vector<BlockId>> known_blocks_;
  RequestId last_admitted_ = 0;
  int num_paused_ = 0;
};

TEST(SchedulerRandom, EveryoneEndsInEveryCrowd) {
  int num_paused = 0;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Crowd crowd(seed);
    crowd.play(num_paused);
    if (::testing::Test::HasFatalFailure()) {
      return;
    }
  }
  // The caches were small enough for the test to mean something.
  EXPECT_GT(num_paused, 1000);
}

}  // namespace
}  // namespace rapt
