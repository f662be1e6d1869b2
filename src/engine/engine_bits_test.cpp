// What a request gives may depend on nothing but the request: not on chunks, neighbours, threads or
// kernels, in any linear mode.

#include <gtest/gtest.h>

#include <cstring>

#include "engine/engine_test_internal.h"

namespace rapt {
namespace {

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

class EngineBitsInMode : public EngineBits, public ::testing::WithParamInterface<LinearMode> {
 protected:
  static EngineConfig mode_config() {
    EngineConfig config = small_config();
    config.linear_mode = GetParam();
    return config;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Modes,
    EngineBitsInMode,
    ::testing::ValuesIn(kLinearModes),
    [](const auto& info) { return std::string(name_of(info.param)); }
);

TEST_P(EngineBitsInMode, AreTheSameForAnyChunkBatchAndThreads) {
  for (const DType kv_dtype : {DType::kBF16, DType::kF32, DType::kF8E4M3}) {
    EngineConfig config = mode_config();
    config.kv_cache_dtype = kv_dtype;
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
      config.max_num_batched_tokens = 64;
      config.num_threads = num_threads;
      expect_same(whole, run(config, 0));
      expect_same(whole, run(config, 7));
    }
  }
}

TEST_P(EngineBitsInMode, AreTheSameOnAnyCpuLevel) {
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

TEST_P(EngineBitsInMode, PrefillEqualsFeedingTheAnswerBack) {
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
  for (const auto& [position, row] : whole.logits) {
    const auto& other = fed.logits.at(position);
    ASSERT_EQ(std::memcmp(row.data(), other.data(), row.size() * sizeof(float)), 0) << position;
  }
}

TEST_F(EngineBits, DifferBetweenModesAndSayIt) {
  std::vector<Trace> traces;
  std::vector<std::string> ids;
  for (const LinearMode mode : kLinearModes) {
    EngineConfig config = small_config();
    config.linear_mode = mode;
    traces.push_back(run(config, 0));
    ids.push_back(make_engine(config)->numerics_id());
    EXPECT_NE(ids.back().find(name_of(mode)), std::string::npos) << ids.back();
  }
  EXPECT_NE(traces[0].logits, traces[1].logits);
  EXPECT_NE(traces[0].logits, traces[2].logits);
  EXPECT_NE(traces[1].logits, traces[2].logits);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
}

TEST_F(EngineBits, ModelsNameTheirMatrices) {
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
