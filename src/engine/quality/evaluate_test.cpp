// The evaluation against the engine, whose bits it must give.

#include "engine/quality/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "engine/attention_choice.h"
#include "engine/engine_test_internal.h"

namespace rapt {
namespace {

using ::testing::HasSubstr;

constexpr int kContext = 50;

class EvaluateQuality : public EngineTest {
 protected:
  static std::vector<std::int32_t> random_text(int num_tokens) {
    std::mt19937 generator(3);
    std::vector<std::int32_t> tokens;
    for (int idx = 0; idx < num_tokens; ++idx) {
      tokens.push_back(static_cast<std::int32_t>(generator() % 60));
    }
    return tokens;
  }

  static EngineConfig config_of(
      const Model& model, LinearMode mode, DType kv_dtype, bool reference = false
  ) {
    EngineConfig config;
    config.num_threads = 2;
    config.max_model_len = kContext;
    config.max_num_batched_tokens = 16;
    config.linear_mode = mode;
    config.kv_cache_dtype = kv_dtype;
    config.reference = reference;
    auto plan = choose_attention(config, {.model = model.info().attention});
    EXPECT_TRUE(plan) << plan.error().message;
    config.attention = *std::move(plan);
    return config;
  }

  // -log of the probability that the engine gives each token of a window, from its own logits.
  static std::vector<double> engine_nlls(
      const EngineConfig& config, std::vector<std::int32_t> window
  ) {
    std::vector<double> nlls;
    const auto engine = make_engine(config);
    Request request = make_request(1, 1, 0);
    request.prompt = window;
    request.tap_all_positions = true;
    request.logits_tap = [&](int, int position, std::span<const float> row) {
      const auto target = static_cast<std::size_t>(position) + 1;
      if (target < window.size()) {
        double sum = 0.0;
        for (const float logit : row) {
          sum += std::exp(static_cast<double>(logit));
        }
        nlls.push_back(std::log(sum) - row[static_cast<std::size_t>(window[target])]);
      }
    };
    const auto sink = std::make_shared<Collector>();
    submit(*engine, request, sink);
    sink->wait();
    return nlls;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Model> model_ = *load_model(folder_->path());
};

TEST_F(EvaluateQuality, GivesThePerplexityOfTheEngine) {
  const std::vector<std::int32_t> text = random_text(120);
  QualityTask task;
  task.tokens = text;
  task.windows = split_into_windows(120, kContext, kContext);
  task.reference = config_of(*model_, LinearMode::kF32, DType::kF32);
  for (const LinearMode mode : kLinearModes) {
    for (const DType kv_dtype : {DType::kBF16, DType::kF8E4M3}) {
      task.settings.push_back(config_of(*model_, mode, kv_dtype));
    }
  }
  std::vector<int> progress;
  task.on_progress = [&](int num_scored) { progress.push_back(num_scored); };
  const auto result = evaluate_quality(*model_, pool_, task);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reference.num_predictions, 49 + 49 + 19);
  EXPECT_EQ(progress.back(), 49 + 49 + 19);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(result->reference.max_kl, 0.0);
  EXPECT_EQ(result->reference.same_best, 1.0);
  ASSERT_EQ(result->settings.size(), task.settings.size());
  for (std::size_t idx = 0; idx < task.settings.size(); ++idx) {
    double nll = 0.0;
    for (int begin = 0; begin < 120; begin += kContext) {
      const int end = std::min(120, begin + kContext);
      for (const double value :
           engine_nlls(task.settings[idx], {text.begin() + begin, text.begin() + end})) {
        nll += value;
      }
    }
    const QualityScore& score = result->settings[idx];
    EXPECT_NEAR(std::log(score.perplexity), nll / (49 + 49 + 19), 1e-12) << idx;
    EXPECT_GT(score.mean_kl, 0.0);
    EXPECT_LE(score.mean_kl, score.max_kl);
    EXPECT_GT(score.logits_error, 0.0);
  }
}

TEST_F(EvaluateQuality, PutsTheBeginningBeforeEveryWindow) {
  const std::vector<std::int32_t> text = random_text(60);
  const std::vector<std::int32_t> begin = {7, 9};
  QualityTask task;
  task.tokens = text;
  task.begin = begin;
  task.windows = split_into_windows(60, 30, 30);
  task.reference = config_of(*model_, LinearMode::kF32, DType::kF32);
  task.settings = {config_of(*model_, LinearMode::kI16, DType::kBF16)};
  const auto result = evaluate_quality(*model_, pool_, task);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->settings[0].num_predictions, 29 + 29);
  double nll = 0.0;
  for (const int first : {0, 30}) {
    std::vector<std::int32_t> window = begin;
    window.insert(window.end(), text.begin() + first, text.begin() + first + 30);
    const std::vector<double> nlls = engine_nlls(task.settings[0], window);
    nll = std::accumulate(nlls.begin() + 2, nlls.end(), nll);
  }
  EXPECT_NEAR(std::log(result->settings[0].perplexity), nll / (29 + 29), 1e-12);
}

TEST_F(EvaluateQuality, CountsAPredictionOnceWhereWindowsOverlap) {
  const std::vector<std::int32_t> text = random_text(90);
  QualityTask task;
  task.tokens = text;
  task.windows = split_into_windows(90, kContext, 20);
  task.reference = config_of(*model_, LinearMode::kF32, DType::kF32);
  task.settings = {config_of(*model_, LinearMode::kF32, DType::kF32)};
  const auto result = evaluate_quality(*model_, pool_, task);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reference.num_predictions, 89);
  EXPECT_EQ(result->settings[0].max_kl, 0.0) << "the same configuration";
  EXPECT_EQ(result->settings[0].perplexity, result->reference.perplexity);
}

TEST_F(EvaluateQuality, TheFastKernelsAreAsGoodAReferenceAsTheDefinition) {
  const std::vector<std::int32_t> text = random_text(kContext);
  QualityTask task;
  task.tokens = text;
  task.windows = split_into_windows(kContext, kContext, kContext);
  task.reference = config_of(*model_, LinearMode::kF32, DType::kF32, true);
  task.settings = {config_of(*model_, LinearMode::kF32, DType::kF32)};
  const auto result = evaluate_quality(*model_, pool_, task);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(result->settings[0].logits_error, 1e-5);
  EXPECT_GT(result->settings[0].logits_error, 0.0) << "another class of attention";
  EXPECT_LT(result->settings[0].max_kl, 1e-9);
}

TEST_F(EvaluateQuality, RefusesTokensThatTheModelDoesNotHave) {
  const std::vector<std::int32_t> text = {1, 61};
  QualityTask task;
  task.tokens = text;
  task.windows = split_into_windows(2, kContext, kContext);
  task.reference = config_of(*model_, LinearMode::kF32, DType::kF32);
  const auto result = evaluate_quality(*model_, pool_, task);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("token id 61"));
}

}  // namespace
}  // namespace rapt
