// What a request gives may depend on nothing but the request: not on chunks, neighbours, threads or
// kernels, in any linear mode.

#include <gtest/gtest.h>

#include <set>

#include "engine/engine_bits_test_internal.h"

namespace rapt {
namespace {

std::string write_gpt_oss(const std::string& folder) {
  rapt::testing::write_tiny_gpt_oss(folder);
  return folder;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    GptOss, EngineBits, ::testing::ValuesIn(bits_cases("gpt_oss", write_gpt_oss)), name_of_bits_case
);

TEST_P(EngineBits, AreTheSameForAnyChunkBatchAndThreads) {
  for (const DType kv_dtype : {DType::kBF16, DType::kF32, DType::kF8E4M3}) {
    EngineConfig config = mode_config();
    config.kv_cache_dtype = kv_dtype;
    config.max_num_batched_tokens = 512;
    const Trace whole = run(config, 0);
    EXPECT_EQ(whole.tokens.size(), static_cast<std::size_t>(kNumDrawn));
    EXPECT_GT(std::set<TokenId>(whole.tokens.begin(), whole.tokens.end()).size(), 3U);
    for (const int chunk : {1, 7, 64, 129}) {
      SCOPED_TRACE("chunk " + std::to_string(chunk));
      config.max_num_batched_tokens = chunk;
      expect_same(whole, run(config, 0));
    }
    for (const int num_threads : {1, 3}) {
      SCOPED_TRACE("threads " + std::to_string(num_threads));
      config.max_num_batched_tokens = 64;
      config.num_threads = num_threads;
      expect_same(whole, run(config, 0));
      expect_same(whole, run(config, 7));
    }
  }
}

// How prompts are cut then depends on the clock: no two runs are alike but in their bits.
TEST_P(EngineBits, AreTheSameAtAnyPace) {
  EngineConfig config = mode_config();
  config.max_num_batched_tokens = 256;
  const Trace whole = run(config, 0);
  for (const int target_ms : {1, 3, 10}) {
    SCOPED_TRACE("target " + std::to_string(target_ms) + " ms");
    config.inter_token_target_ms = target_ms;
    expect_same(whole, run(config, 0));
    expect_same(whole, run(config, 7));
  }
}

TEST_P(EngineBits, AreTheSameOnAnyCpuLevel) {
  const EngineConfig config = mode_config();
  const Trace best = run(config, 7);
  for (const CpuLevel level : runnable_cpu_levels()) {
    SCOPED_TRACE(name_of(level));
    EngineConfig other = config;
    if (level == CpuLevel::kReference) {
      // Its attention is cpu-ref, another class of numbers.
      other.reference = true;
      expect_same(run(other, 0), run(other, 3));
    } else {
      other.cpu_level = level;
      expect_same(best, run(other, 3));
    }
  }
}

TEST_P(EngineBits, PrefillEqualsFeedingTheAnswerBack) {
  const EngineConfig config = mode_config();
  const Trace whole = run(config, 0);
  // The drawn tokens as part of a prompt: their positions are prefilled, not decoded.
  const auto engine = make_engine(config);
  Trace fed;
  Request request = traced_request(make_request(1, kNumPrompt, 1), fed);
  request.prompt.insert(request.prompt.end(), whole.tokens.begin(), whole.tokens.end() - 1);
  const auto sink = std::make_shared<Collector>();
  submit(*engine, request, sink);
  sink->wait();
  expect_same_rows(whole, fed);
}

namespace {

class EngineModes : public EngineTest {
 protected:
  // The logits behind a prompt, and a token drawn.
  static std::vector<float> last_logits(const EngineConfig& config) {
    std::vector<float> logits;
    const auto engine = make_engine(config);
    Request request = make_request(1, 40, 1);
    request.logits_tap = [&](int, int, std::span<const float> row) {
      logits.assign(row.begin(), row.end());
    };
    const auto sink = std::make_shared<Collector>();
    submit(*engine, request, sink);
    sink->wait();
    return logits;
  }
};

TEST_F(EngineModes, DifferBetweenModesAndSayIt) {
  std::vector<std::vector<float>> logits;
  std::vector<std::string> ids;
  for (const LinearMode mode : kLinearModes) {
    EngineConfig config = small_config();
    config.linear_mode = mode;
    logits.push_back(last_logits(config));
    ids.push_back(make_engine(config)->numerics_id());
    EXPECT_NE(ids.back().find(name_of(mode)), std::string::npos) << ids.back();
  }
  EXPECT_NE(logits[0], logits[1]);
  EXPECT_NE(logits[0], logits[2]);
  EXPECT_NE(logits[1], logits[2]);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
}

TEST_F(EngineModes, ModelsNameTheirMatrices) {
  const auto model = load_model(folder_->path());
  ASSERT_TRUE(model) << model.error().message;
  const std::vector<ModelLinear> linears = (*model)->linears();
  ASSERT_EQ(linears.size(), 3U * 7U + 1U);  // three layers
  EXPECT_EQ(linears.front().name, "layers.0.attention.q");
  EXPECT_EQ(linears[5].name, "layers.0.moe.gate_up");
  EXPECT_EQ(linears[5].method->format(), "mxfp4");
  EXPECT_EQ(linears[5].num_active, 2);
  EXPECT_EQ(linears[4].num_active, 1);
  EXPECT_EQ(linears.back().name, "lm_head");
  for (const ModelLinear& linear : linears) {
    EXPECT_GT(linear.method->num_bytes(), 0) << linear.name;
  }
}

TEST(FindCpuLevel, RefusesWhatTheMachineOrTheReferenceCannotDo) {
  EngineConfig config;
  ASSERT_TRUE(find_cpu_level(config));
  EXPECT_EQ(*find_cpu_level(config), best_cpu_level());
  config.cpu_level = CpuLevel::kScalar;
  EXPECT_EQ(*find_cpu_level(config), CpuLevel::kScalar);
  config.reference = true;
  EXPECT_FALSE(find_cpu_level(config));
  config.cpu_level = std::nullopt;
  EXPECT_EQ(*find_cpu_level(config), CpuLevel::kReference);
  if (best_cpu_level() != CpuLevel::kAvx512Vnni) {
    config.reference = false;
    config.cpu_level = CpuLevel::kAvx512Vnni;
    const auto refused = find_cpu_level(config);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("avx512vnni"), std::string::npos);
  }
}

}  // namespace
}  // namespace rapt
