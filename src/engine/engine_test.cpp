// The engine over a tiny random model.

#include "engine/engine.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <thread>

#include "engine/engine_test_internal.h"
#include "scheduler/step_pacer.h"
#include "support/allocation_counter.h"

namespace rapt {
namespace {

TEST_F(EngineTest, ChoicesDifferAndRepeat) {
  const auto engine = make_engine(small_config());
  std::vector<std::vector<TokenId>> first;
  for (RequestId id = 1; id <= 2; ++id) {
    Request request = make_request(id, 10, 20);
    request.num_choices = 3;
    request.sampling.temperature = 1.5F;
    request.sampling.seed = 3;
    const auto sink = std::make_shared<Collector>(3);
    submit(*engine, request, sink);
    sink->wait();
    std::vector<std::vector<TokenId>> choices = {sink->tokens(0), sink->tokens(1), sink->tokens(2)};
    EXPECT_NE(choices[0], choices[1]);
    EXPECT_NE(choices[1], choices[2]);
    if (id == 1) {
      first = choices;
    } else {
      EXPECT_EQ(first, choices);
    }
  }
}

TEST_F(EngineTest, StopsWhereTheRulesSay) {
  const auto engine = make_engine(small_config());
  const auto free_run = std::make_shared<Collector>();
  Request request = make_request(1, 10, 20);
  request.stop.ignore_eos = true;
  submit(*engine, request, free_run);
  free_run->wait();
  ASSERT_EQ(free_run->tokens().size(), 20U);
  EXPECT_EQ(free_run->finish().reason, FinishReason::kLength);

  const TokenId stop = free_run->tokens()[4];
  const auto stopped = std::make_shared<Collector>();
  request.id = 2;
  request.stop.stop_token_ids = {stop};
  submit(*engine, request, stopped);
  stopped->wait();
  EXPECT_EQ(stopped->finish().reason, FinishReason::kStop);
  EXPECT_EQ(stopped->finish().stop_token, stop);
  EXPECT_LE(stopped->tokens().size(), 5U);
  EXPECT_EQ(stopped->tokens().back(), stop);
}

TEST_F(EngineTest, MoreRequestsThanTheCacheHoldsAllFinish) {
  EngineConfig config = small_config();
  config.kv_cache_bytes = 200 << 10;
  config.max_model_len = 128;
  const auto engine = make_engine(config);
  std::vector<std::shared_ptr<Collector>> sinks;
  for (int idx = 0; idx < 40; ++idx) {
    sinks.push_back(std::make_shared<Collector>());
    Request request = make_request(static_cast<RequestId>(idx + 1), 1 + idx % 60, 60);
    request.stop.ignore_eos = true;
    submit(*engine, request, sinks.back());
  }
  for (const auto& sink : sinks) {
    sink->wait();
    EXPECT_EQ(sink->finish().reason, FinishReason::kLength);
    EXPECT_EQ(sink->tokens().size(), 60U);
  }
  wait_until_idle(*engine);
  EXPECT_EQ(engine->stats().num_blocks_used, 0);
  EXPECT_EQ(engine->stats().num_finished_length, 40U);
}

TEST_F(EngineTest, CancelFreesBlocksAtAnyStage) {
  EngineConfig config = small_config();
  config.max_num_seqs = 2;
  config.max_num_batched_tokens = 8;
  const auto engine = make_engine(config);
  std::vector<std::shared_ptr<Collector>> sinks;
  std::promise<void> all_cancelled;
  const std::shared_future<void> cancelled = all_cancelled.get_future().share();
  for (int idx = 0; idx < 12; ++idx) {
    sinks.push_back(std::make_shared<Collector>());
    Request request = make_request(static_cast<RequestId>(idx + 1), 100, 100);
    request.stop.ignore_eos = true;
    // Holds the engine at the end of the first prompt, so that nobody finishes before.
    request.logits_tap = [cancelled](int, int, std::span<const float>) { cancelled.wait(); };
    submit(*engine, request, sinks.back());
  }
  for (int idx = 0; idx < 12; ++idx) {
    engine->cancel(static_cast<RequestId>(idx + 1));
  }
  engine->cancel(999);
  all_cancelled.set_value();
  for (const auto& sink : sinks) {
    sink->wait();
    EXPECT_EQ(sink->finish().reason, FinishReason::kAbort);
  }
  wait_until_idle(*engine);
  EXPECT_EQ(engine->stats().num_blocks_used, 0);
  EXPECT_EQ(engine->stats().num_finished_abort, 12U);
}

TEST_F(EngineTest, StopEndsEverything) {
  const auto engine = make_engine(small_config());
  std::vector<std::shared_ptr<Collector>> sinks;
  for (int idx = 0; idx < 20; ++idx) {
    sinks.push_back(std::make_shared<Collector>());
    Request request = make_request(static_cast<RequestId>(idx + 1), 50, 200);
    request.stop.ignore_eos = true;
    submit(*engine, request, sinks.back());
  }
  engine->stop();
  for (const auto& sink : sinks) {
    sink->wait();
  }
  EXPECT_EQ(
      engine->submit(make_request(99, 1, 1), std::make_shared<Collector>()),
      SubmitOutcome::kShuttingDown
  );
}

TEST_F(EngineTest, IdleEngineTakesMoreChoicesThanTheQueueHolds) {
  EngineConfig config = small_config();
  config.max_queued_requests = 2;
  const auto engine = make_engine(config);
  Request request = make_request(1, 5, 3);
  request.num_choices = 20;
  const auto sink = std::make_shared<Collector>(20);
  submit(*engine, request, sink);
  sink->wait();
  EXPECT_EQ(sink->tokens(19).size(), 3U);
}

TEST_F(EngineTest, QueueIsBounded) {
  EngineConfig config = small_config();
  config.max_queued_requests = 3;
  const auto engine = make_engine(config, false);
  for (RequestId id = 1; id <= 3; ++id) {
    submit(*engine, make_request(id, 5, 5), std::make_shared<Collector>());
  }
  EXPECT_EQ(
      engine->submit(make_request(4, 5, 5), std::make_shared<Collector>()),
      SubmitOutcome::kQueueFull
  );
  EXPECT_EQ(engine->stats().num_waiting, 3);
  engine->begin_drain();
  EXPECT_EQ(
      engine->submit(make_request(5, 5, 5), std::make_shared<Collector>()),
      SubmitOutcome::kShuttingDown
  );
}

// Notes how often memory was asked for by the time each token came.
class AllocationWatch : public Collector {
 public:
  void on_event(const TokenEvent& event) override {
    if (num_seen_ < kMaxTokens) {
      allocations_[num_seen_++] = num_allocations();
    }
    if (event.finish) {
      Collector::on_event(event);
    }
  }

  static constexpr std::size_t kMaxTokens = 200;

  std::uint64_t between(std::size_t first, std::size_t last) const {
    return allocations_[last] - allocations_[first];
  }

 private:
  std::array<std::uint64_t, kMaxTokens> allocations_{};
  std::size_t num_seen_ = 0;
};

TEST_F(EngineTest, DecodeStepsDoNotAllocate) {
  const auto engine = make_engine(small_config());
  for (RequestId id = 1; id <= 2; ++id) {  // the first one warms up
    Request request = make_request(id, 20, 200);
    request.stop.ignore_eos = true;
    request.sampling.temperature = 1.0F;
    request.sampling.top_p = 0.9F;
    const auto watch = std::make_shared<AllocationWatch>();
    submit(*engine, request, watch);
    watch->wait();
    if (id == 2) {
      EXPECT_GT(num_allocations(), 1000U) << "the counter counts";
      EXPECT_EQ(watch->between(1, 198), 0U);
    }
  }
}

TEST_F(EngineTest, SlowStepsLeavePromptsLittleWhileSomebodyDecodes) {
  for (const int target_ms : {0, 1}) {
    EngineConfig config = small_config();
    config.inter_token_target_ms = target_ms;
    const auto engine = make_engine(config);
    Request request = make_request(1, 20, 3);
    request.stop.ignore_eos = true;
    // Makes every step longer than the target.
    request.logits_tap = [](int, int, std::span<const float>) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
      while (std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
      }
    };
    const auto sink = std::make_shared<Collector>();
    submit(*engine, request, sink);
    sink->wait();
    wait_until_idle(*engine);
    const int least = 1 + PaceConfig().min_prompt_tokens;
    EXPECT_EQ(engine->stats().max_step_tokens, target_ms == 0 ? 64 : least);
    EXPECT_EQ(engine->facts().inter_token_target_ms, target_ms);
  }
}

TEST_F(EngineTest, RefusesImpossibleRequests) {
  const auto engine = make_engine(small_config(), false);
  Request empty = make_request(1, 0, 5);
  EXPECT_EQ(engine->validate(empty).error().param, "prompt");
  Request unknown = make_request(1, 5, 5);
  unknown.prompt[3] = 61;
  EXPECT_EQ(
      engine->validate(unknown).error().message,
      "prompt token 3 is 61, but token ids go from 0 to 60"
  );
  Request too_long = make_request(1, 256, 5);
  EXPECT_EQ(engine->validate(too_long).error().reason, "context_length_exceeded");
  Request biased = make_request(1, 5, 5);
  biased.sampling.logit_bias = {{-1, 1.0F}};
  EXPECT_EQ(engine->validate(biased).error().param, "logit_bias");
  Request lowered = make_request(1, 250, 1000000);
  ASSERT_TRUE(engine->validate(lowered));
  EXPECT_EQ(lowered.stop.max_tokens, 6);
}

TEST_F(EngineTest, MemoryPlanSaysWhatWouldWork) {
  EngineConfig config = small_config();
  config.max_model_len = 300;
  auto too_long = Engine::create(config, *load_model(folder_->path()));
  ASSERT_FALSE(too_long);
  EXPECT_NE(too_long.error().message.find("256 positions"), std::string::npos);
  config.max_model_len = 256;
  config.kv_cache_bytes = 40000;
  auto too_small = Engine::create(config, *load_model(folder_->path()));
  ASSERT_FALSE(too_small);
  EXPECT_NE(too_small.error().message.find("--kv-cache-memory-bytes"), std::string::npos);
  config.kv_cache_bytes = 10;
  EXPECT_FALSE(Engine::create(config, *load_model(folder_->path())));
}

}  // namespace
}  // namespace rapt
