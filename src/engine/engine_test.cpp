// The engine over a tiny random model: what a request gives may depend on nothing but the request.

#include "engine/engine.h"

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <random>

#include "models/model.h"
#include "support/allocation_counter.h"
#include "support/checkpoint_files.h"
#include "support/tiny_gpt_oss.h"

namespace rapt {
namespace {

// Everything one request produced.
class Collector : public TokenSink {
 public:
  explicit Collector(int num_choices = 1) : num_open_(num_choices) {}

  void on_event(const TokenEvent& event) override {
    const std::lock_guard lock(mutex_);
    if (event.token) {
      tokens_[event.choice].push_back(*event.token);
      if (event.logprob) {
        logprobs_.push_back(event.logprob->logprob);
      }
    }
    if (event.finish) {
      EXPECT_FALSE(finishes_.contains(event.choice)) << "two ends";
      finishes_[event.choice] = *event.finish;
      --num_open_;
      changed_.notify_all();
    }
  }

  void wait() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(120), [this] {
      return num_open_ == 0;
    }));
  }

  const std::vector<TokenId>& tokens(int choice = 0) { return tokens_[choice]; }

  const std::vector<float>& logprobs() const { return logprobs_; }

  const FinishInfo& finish(int choice = 0) { return finishes_.at(choice); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::vector<TokenId>> tokens_;
  std::map<int, FinishInfo> finishes_;
  std::vector<float> logprobs_;
  int num_open_;
};

class EngineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new rapt::testing::TempFolder;
    rapt::testing::write_tiny_gpt_oss(folder_->path());
  }

  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  static std::unique_ptr<Engine> make_engine(EngineConfig config, bool started = true) {
    auto model = load_model(folder_->path());
    EXPECT_TRUE(model) << model.error().message;
    auto engine = Engine::create(config, *std::move(model));
    EXPECT_TRUE(engine) << engine.error().message;
    if (started) {
      (*engine)->start();
    }
    return *std::move(engine);
  }

  static EngineConfig small_config() {
    EngineConfig config;
    config.num_threads = 2;
    config.max_num_seqs = 8;
    config.max_num_batched_tokens = 64;
    config.kv_cache_bytes = 4 << 20;
    return config;
  }

  static Request make_request(RequestId id, int num_prompt, int max_tokens) {
    std::mt19937 generator(static_cast<unsigned>(num_prompt));
    Request request;
    request.id = id;
    for (int idx = 0; idx < num_prompt; ++idx) {
      request.prompt.push_back(static_cast<TokenId>(generator() % 60));
    }
    request.sampling.temperature = 0.0F;
    request.stop.max_tokens = max_tokens;
    return request;
  }

  static void submit(Engine& engine, Request request, const std::shared_ptr<Collector>& sink) {
    const auto valid = engine.validate(request);
    ASSERT_TRUE(valid) << valid.error().message;
    ASSERT_EQ(engine.submit(std::move(request), sink), SubmitOutcome::kAccepted);
  }

  static void wait_until_idle(Engine& engine) {
    for (int attempt = 0; attempt < 100000 && !engine.is_idle(); ++attempt) {
      std::this_thread::yield();
    }
    ASSERT_TRUE(engine.is_idle());
  }

  static rapt::testing::TempFolder* folder_;
};

rapt::testing::TempFolder* EngineTest::folder_ = nullptr;

// Logits of each position and the tokens drawn.
struct Trace {
  std::map<int, std::vector<float>> logits;
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;
};

constexpr int kNumPrompt = 150;
constexpr int kNumDrawn = 24;

Request traced_request(Request request, Trace& trace) {
  request.sampling.temperature = 0.9F;
  request.sampling.top_p = 0.95F;
  request.sampling.seed = 7;
  request.sampling.num_logprobs = 3;
  request.stop.ignore_eos = true;
  request.tap_all_positions = true;
  request.logits_tap = [&trace](int, int position, std::span<const float> row) {
    trace.logits[position].assign(row.begin(), row.end());
  };
  return request;
}

void expect_same(const Trace& expected, const Trace& actual) {
  EXPECT_EQ(expected.tokens, actual.tokens);
  EXPECT_EQ(expected.logprobs, actual.logprobs);
  ASSERT_EQ(actual.logits.size(), static_cast<std::size_t>(kNumPrompt + kNumDrawn - 1));
  for (const auto& [position, row] : expected.logits) {
    const auto& other = actual.logits.at(position);
    ASSERT_EQ(std::memcmp(row.data(), other.data(), row.size() * sizeof(float)), 0) << position;
  }
}

class EngineBits : public EngineTest {
 protected:
  // Runs the traced request, with `num_neighbours` others of all lengths around it.
  static Trace run(const EngineConfig& config, int num_neighbours) {
    Trace trace;
    const auto engine = make_engine(config, false);
    std::vector<std::shared_ptr<Collector>> others;
    for (int idx = 0; idx < num_neighbours; ++idx) {
      others.push_back(std::make_shared<Collector>());
      Request other = make_request(static_cast<RequestId>(100 + idx), 3 + 29 * idx, 5 + 7 * idx);
      other.sampling.temperature = 1.0F;
      other.sampling.seed = static_cast<std::uint64_t>(idx);
      submit(*engine, other, others.back());
      if (idx == num_neighbours / 2) {
        engine->start();
      }
    }
    const auto sink = std::make_shared<Collector>();
    submit(*engine, traced_request(make_request(1, kNumPrompt, kNumDrawn), trace), sink);
    if (num_neighbours == 0) {
      engine->start();
    }
    sink->wait();
    for (const auto& other : others) {
      other->wait();
    }
    trace.tokens = sink->tokens();
    trace.logprobs = sink->logprobs();
    return trace;
  }
};

TEST_F(EngineBits, AreTheSameForAnyChunkBatchThreadsAndKernels) {
  for (const bool kv_f32 : {false, true}) {
    EngineConfig config = small_config();
    config.kv_cache_f32 = kv_f32;
    config.max_num_batched_tokens = 512;
    const Trace whole = run(config, 0);
    EXPECT_EQ(whole.tokens.size(), static_cast<std::size_t>(kNumDrawn));
    for (const int chunk : {1, 7, 64, 129}) {
      SCOPED_TRACE("chunk " + std::to_string(chunk));
      config.max_num_batched_tokens = chunk;
      expect_same(whole, run(config, 0));
    }
    for (const int num_threads : {1, 3}) {
      SCOPED_TRACE("threads " + std::to_string(num_threads));
      EngineConfig threads = small_config();
      threads.kv_cache_f32 = kv_f32;
      threads.num_threads = num_threads;
      expect_same(whole, run(threads, 0));
      expect_same(whole, run(threads, 7));
    }
    EngineConfig reference = small_config();
    reference.kv_cache_f32 = kv_f32;
    reference.reference = true;
    expect_same(whole, run(reference, 7));
  }
}

TEST_F(EngineBits, PrefillEqualsFeedingTheAnswerBack) {
  EngineConfig config = small_config();
  const Trace whole = run(config, 0);
  // The drawn tokens as part of a prompt: their positions are prefilled, not decoded.
  const auto engine = make_engine(config);
  Trace fed;
  Request request = traced_request(make_request(1, kNumPrompt, 1), fed);
  request.prompt.insert(request.prompt.end(), whole.tokens.begin(), whole.tokens.end() - 1);
  const auto sink = std::make_shared<Collector>();
  submit(*engine, request, sink);
  sink->wait();
  for (const auto& [position, row] : whole.logits) {
    const auto& other = fed.logits.at(position);
    ASSERT_EQ(std::memcmp(row.data(), other.data(), row.size() * sizeof(float)), 0) << position;
  }
}

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
  for (int idx = 0; idx < 12; ++idx) {
    sinks.push_back(std::make_shared<Collector>());
    Request request = make_request(static_cast<RequestId>(idx + 1), 100, 100);
    request.stop.ignore_eos = true;
    submit(*engine, request, sinks.back());
  }
  for (int idx = 0; idx < 12; ++idx) {
    engine->cancel(static_cast<RequestId>(idx + 1));
  }
  engine->cancel(999);
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
