#pragma once

// What the engine's tests share: a tiny random model, and a sink that keeps what came. Tests only.

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "models/model.h"
#include "support/checkpoint_files.h"
#include "support/tiny_gpt_oss.h"

namespace rapt {

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

  static std::unique_ptr<Engine> make_engine(const EngineConfig& config, bool started = true) {
    return make_engine_of(folder_->path(), config, started);
  }

  static std::unique_ptr<Engine> make_engine_of(
      const std::string& path, const EngineConfig& config, bool started
  ) {
    auto model = load_model(path);
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

  static inline rapt::testing::TempFolder* folder_ = nullptr;
};

}  // namespace rapt
