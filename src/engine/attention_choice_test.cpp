// From a configuration to the attention that runs: the choice, its check with numbers, the slots.

#include "engine/attention_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "attention/select/selector.h"
#include "support/broken_attention.h"

namespace rapt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

AttentionModel gpt_oss() {
  return *find_attention_preset("openai/gpt-oss-20b");
}

AttentionPlan choose(const EngineConfig& config, const AttentionQuestion& question) {
  Result<AttentionPlan> plan = choose_attention(config, question);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return *std::move(plan);
}

std::array<std::string, kNumAttentionSlots> backends_of(const AttentionPlan& plan) {
  std::array<std::string, kNumAttentionSlots> names;
  for (const AttentionSlot slot : kAttentionSlots) {
    names[static_cast<std::size_t>(index_of(slot))] = plan.at(slot).backend->name;
  }
  return names;
}

std::array<std::string, kNumAttentionSlots> all(const std::string& name) {
  return {name, name, name, name};
}

EngineConfig two_threads() {
  EngineConfig config;
  config.num_threads = 2;
  return config;
}

TEST(AttentionChoice, SaysWhatTheRunAsksFor) {
  EngineConfig config;
  config.kv_cache_dtype = DType::kF32;
  config.kv_block_size = 48;
  config.max_num_seqs = 3;
  config.max_model_len = 1000;
  const AttentionRunOptions run = attention_run_options(config);
  EXPECT_EQ(run.kv_type, KVType::kF32);
  EXPECT_EQ(run.block_size, 48);
  EXPECT_EQ(run.max_sequences, 3);
  EXPECT_EQ(run.max_context, 1000);
  EXPECT_EQ(attention_run_options({}).kv_type, KVType::kBF16);
}

TEST(AttentionChoice, TheHostIsWhatTheConfigurationComputesWith) {
  EngineConfig config = two_threads();
  EXPECT_EQ(host_facts(config)->num_threads, 2);
  EXPECT_EQ(host_facts(config)->level, best_cpu_level());
  config.reference = true;
  EXPECT_EQ(host_facts(config)->level, CpuLevel::kReference);
}

TEST(AttentionChoice, ReferenceRunsTheDefinition) {
  EngineConfig config = two_threads();
  config.reference = true;
  config.kv_cache_dtype = DType::kF32;
  EXPECT_EQ(backends_of(choose(config, {.model = gpt_oss()})), all("cpu-ref"));
}

TEST(AttentionChoice, EveryPlanOfThisMachineCanBeMade) {
  const std::array<AttentionSetting, 1> settings = {
      AttentionSetting{SettingOrigin::kCommandLine, "--attention-backend", "decode=cpu-ref"}};
  const AttentionPlan plan = choose(two_threads(), {.model = gpt_oss(), .settings = settings});
  const PlannedAttention planned =
      make_planned_attention(plan, {.num_threads = 2, .max_positions = 64});
  for (const AttentionSlot slot : kAttentionSlots) {
    EXPECT_EQ(planned.backend(slot).name(), plan.at(slot).backend->name);
  }
  EXPECT_EQ(planned.backend(AttentionSlot::kDecodeFull).name(), "cpu-ref");
}

TEST(AttentionChoice, TypedWrongNamesAreErrors) {
  const std::array<AttentionSetting, 1> settings = {
      AttentionSetting{SettingOrigin::kCommandLine, "--attention-backend", "TRITON_ATN"}};
  const Result<AttentionPlan> plan =
      choose_attention(two_threads(), {.model = gpt_oss(), .settings = settings});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr("TRITON_ATTN"), HasSubstr("cpu-ref")));
}

// A backend whose decode forgets the sinks and which would win by its cost.
TEST(AttentionChoice, ABrokenKernelIsFoundByItsNumbersAndTheNextOneRuns) {
  const std::array<const BackendInfo*, 2> backends = {
      &rapt::testing::broken_attention_info(), find_attention_backend("cpu-ref")};
  const EngineConfig config = two_threads();

  SelectRequest unchecked;
  unchecked.model = gpt_oss();
  unchecked.device = *find_attention_device("cpu", *host_facts(config));
  unchecked.backends = backends;
  const Result<AttentionPlan> trusting = select_attention(unchecked);
  ASSERT_TRUE(trusting) << trusting.error().message;
  EXPECT_EQ(backends_of(*trusting), all("broken-sinks"));

  const AttentionPlan plan = choose(config, {.model = gpt_oss(), .backends = backends});
  EXPECT_EQ(plan.at(AttentionSlot::kDecodeFull).backend->name, "cpu-ref");
  EXPECT_EQ(plan.at(AttentionSlot::kDecodeSliding).backend->name, "cpu-ref");
  int num_found = 0;
  for (const BackendStanding& row : plan.table) {
    if (row.backend != &rapt::testing::broken_attention_info()) {
      continue;
    }
    const SlotStanding& decode =
        row.slots[static_cast<std::size_t>(index_of(AttentionSlot::kDecodeFull))];
    ASSERT_FALSE(decode.reasons.empty());
    EXPECT_EQ(decode.reasons.front().code, ReasonCode::kProbeFailed);
    ASSERT_TRUE(decode.probe.has_value());
    EXPECT_FALSE(decode.probe->passed());
    EXPECT_GT(decode.probe->max_error, decode.probe->limit);
    ++num_found;
  }
  EXPECT_EQ(num_found, 1);
  std::string told;
  for (const AttentionMessage& message : plan.messages) {
    told += message.text + "\n";
  }
  EXPECT_THAT(told, AllOf(HasSubstr("broken-sinks"), HasSubstr("cpu-ref"), HasSubstr("error")));
}

}  // namespace
}  // namespace rapt
