#pragma once

// What a model's bits may not depend on is tested in engine_bits_test.cpp for every model that is
// instantiated there or, with this header, beside a model (models/<name>/). Tests only.

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine_test_internal.h"
#include "quant/linear_mode.h"

namespace rapt {

// Logits of each position and the tokens drawn.
struct Trace {
  std::map<int, std::vector<float>> logits;
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;
};

// A model, and a mode to run it in.
struct BitsCase {
  const char* name = "";
  // Writes a checkpoint into an empty folder and returns what to load. At least 61 tokens and 256
  // positions; eos is ignored.
  std::string (*write)(const std::string& folder) = nullptr;
  LinearMode mode = LinearMode::kI16;
};

inline std::string name_of_bits_case(const ::testing::TestParamInfo<BitsCase>& info) {
  return std::string(info.param.name) + "_" + std::string(name_of(info.param.mode));
}

// `write` in every mode.
inline std::vector<BitsCase> bits_cases(
    const char* name, std::string (*write)(const std::string& folder)
) {
  std::vector<BitsCase> cases;
  for (const LinearMode mode : kLinearModes) {
    cases.push_back({name, write, mode});
  }
  return cases;
}

class EngineBits : public EngineTest, public ::testing::WithParamInterface<BitsCase> {
 protected:
  static constexpr int kNumPrompt = 150;
  static constexpr int kNumDrawn = 24;

  void SetUp() override { path_ = GetParam().write(checkpoint_.path()); }

  static EngineConfig mode_config() {
    EngineConfig config = small_config();
    config.linear_mode = GetParam().mode;
    return config;
  }

  std::unique_ptr<Engine> make_engine(const EngineConfig& config, bool started = true) const {
    return make_engine_of(path_, config, started);
  }

  static Request traced_request(Request request, Trace& trace) {
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

  // Runs the traced request, with `num_neighbours` others of all lengths around it.
  Trace run(const EngineConfig& config, int num_neighbours) const {
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

  static void expect_same_rows(const Trace& expected, const Trace& actual) {
    for (const auto& [position, row] : expected.logits) {
      const auto& other = actual.logits.at(position);
      ASSERT_EQ(std::memcmp(row.data(), other.data(), row.size() * sizeof(float)), 0) << position;
    }
  }

  static void expect_same(const Trace& expected, const Trace& actual) {
    EXPECT_EQ(expected.tokens, actual.tokens);
    EXPECT_EQ(expected.logprobs, actual.logprobs);
    ASSERT_EQ(actual.logits.size(), static_cast<std::size_t>(kNumPrompt + kNumDrawn - 1));
    expect_same_rows(expected, actual);
  }

 private:
  rapt::testing::TempFolder checkpoint_;
  std::string path_;
};

}  // namespace rapt
