#include "attention/select/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention/backend.h"
#include "attention/select/select_test_support.h"

namespace rapt {
namespace {

using testing::HasSubstr;
using testing::Not;

SelectRequest request_for(std::string_view preset, std::string_view device) {
  return {
      .model = find_attention_preset(preset).value(),
      .device = test_device(device),
      .settings = {},
      .backends = test_backends(),
  };
}

const BackendStanding& row_of(const AttentionPlan& plan, std::string_view name) {
  for (const BackendStanding& standing : plan.table) {
    if (standing.backend->name == name) {
      return standing;
    }
  }
  ADD_FAILURE() << "no row of " << name;
  return plan.table.front();
}

// The first reason against a backend in a slot.
ReasonCode code_of(
    const SelectRequest& request,
    std::string_view backend,
    AttentionSlot slot = AttentionSlot::kPrefillFull
) {
  const Result<AttentionPlan> plan = select_attention(request);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  const SlotStanding& standing =
      row_of(*plan, backend).slots[static_cast<std::size_t>(index_of(slot))];
  EXPECT_FALSE(standing.is_valid());
  EXPECT_FALSE(standing.reasons.front().text().empty());
  return standing.reasons.front().code;
}

TEST(SelectAttention, PicksTheFastestThatCanRun) {
  EXPECT_EQ(backend_of(plan_for("gpt-oss-20b", "cpu")), "cpu-flash");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-20b", "cpu:avx2")), "cpu-flash");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-20b", "cpu:scalar")), "cpu-flash");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-20b", "cpu:reference")), "cpu-ref");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-20b", "sm75")), "cuda-ref");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-20b", "sm80")), "cuda-mma");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-20b", "sm90")), "cuda-hopper");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-120b", "sm100")), "cuda-mma");
  EXPECT_EQ(backend_of(plan_for("gpt-oss-120b", "sm121")), "cuda-mma");
}

TEST(SelectAttention, FillsOnlySlotsThatTheModelHas) {
  const AttentionPlan plan = plan_for("llama", "cpu");
  EXPECT_TRUE(plan.at(AttentionSlot::kDecodeFull).is_used);
  EXPECT_FALSE(plan.at(AttentionSlot::kDecodeSliding).is_used);
  EXPECT_EQ(plan.at(AttentionSlot::kDecodeSliding).backend, nullptr);
  EXPECT_EQ(backend_of(plan), "cpu-flash");
  EXPECT_THAT(startup_line(plan), Not(HasSubstr("sliding")));
}

TEST(SelectAttention, GivesEveryReasonItsCode) {
  SelectRequest request = request_for("gpt-oss-20b", "sm80");
  EXPECT_EQ(code_of(request, "cpu-flash"), ReasonCode::kDeviceKind);
  EXPECT_EQ(code_of(request, "cuda-hopper"), ReasonCode::kDeviceCc);
  EXPECT_EQ(code_of(request, "cudnn"), ReasonCode::kLibMissing);
  EXPECT_EQ(code_of(request, "cudnn", AttentionSlot::kDecodeFull), ReasonCode::kNoKernel);
  request.device.cudnn = "9.10.2";
  EXPECT_EQ(code_of(request, "cudnn"), ReasonCode::kLibTooOld);
  request.device.cudnn = "9.13";
  request.run.is_deterministic = true;
  EXPECT_EQ(code_of(request, "cudnn"), ReasonCode::kDeterminism);
  request.run.is_deterministic = false;
  request.run.needs_mixed_batches = true;
  EXPECT_EQ(code_of(request, "cudnn"), ReasonCode::kMixedBatch);
  request.run.needs_mixed_batches = false;
  request.run.graph_level = GraphLevel::kAlways;
  EXPECT_EQ(code_of(request, "cudnn"), ReasonCode::kGraphLevel);

  request = request_for("gpt-oss-20b", "cpu:reference");
  EXPECT_EQ(code_of(request, "cpu-flash"), ReasonCode::kIsa);

  request = request_for("gpt-oss-20b", "sm80");
  request.model.head_dim = 96;
  EXPECT_EQ(code_of(request, "cuda-mma"), ReasonCode::kHeadDim);
  request.model.head_dim = 64;
  request.model.num_kv_heads = 2;
  EXPECT_EQ(code_of(request, "cuda-mma"), ReasonCode::kGqaRatio);
  request.model.num_kv_heads = 8;
  request.run.block_size = 128;
  EXPECT_EQ(code_of(request, "cuda-mma"), ReasonCode::kBlockSize);
  request.run.block_size = 0;
  request.run.disabled_backends = {"cuda-mma"};
  EXPECT_EQ(code_of(request, "cuda-mma"), ReasonCode::kDisabledByUser);

  request = request_for("gpt-oss-20b", "cpu");
  request.model.head_dim = 72;
  EXPECT_EQ(code_of(request, "cpu-flash"), ReasonCode::kHeadDim);
}

// A backend that lacks what the real ones have.
constexpr KVType kOnlyF32[] = {KVType::kF32};
constexpr KVType kOnlyBF16[] = {KVType::kBF16};

std::unique_ptr<AttentionBackend> make_nothing(const AttentionBackendOptions&) {
  return nullptr;
}

ReasonCode code_of_variant(SelectRequest request, KernelVariant variant) {
  variant.name = "poor";
  variant.slots = SlotSet::all();
  const BackendInfo poor = {
      .name = "poor",
      .device = DeviceKind::kCpu,
      .variants = {&variant, 1},
      .make = make_nothing,
  };
  std::vector<const BackendInfo*> backends(request.backends.begin(), request.backends.end());
  backends.push_back(&poor);
  request.backends = backends;
  return code_of(request, "poor", AttentionSlot::kPrefillSliding);
}

TEST(SelectAttention, KnowsWhatAKernelLacks) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu");
  EXPECT_EQ(
      code_of_variant(request, {.has_window = true, .kv_types = kOnlyBF16}), ReasonCode::kSinks
  );
  EXPECT_EQ(
      code_of_variant(request, {.has_sinks = true, .kv_types = kOnlyBF16}), ReasonCode::kWindow
  );
  EXPECT_EQ(
      code_of_variant(request, {.has_sinks = true, .has_window = true, .kv_types = kOnlyF32}),
      ReasonCode::kKVDType
  );
  KernelVariant limited = {
      .has_sinks = true,
      .has_window = true,
      .kv_types = kOnlyBF16,
      .batch_invariance = BatchInvariance::kAlways,
  };
  limited.max_context = 4096;
  EXPECT_EQ(code_of_variant(request, limited), ReasonCode::kContextLen);
  limited.max_context = 0;
  limited.max_sequences = 992;
  request.run.max_sequences = 1024;
  EXPECT_EQ(code_of_variant(request, limited), ReasonCode::kMaxSequences);
  limited.max_sequences = 0;
  limited.workspace_bytes_per_row = 1000;
  request.run.max_workspace_bytes = 63999;
  EXPECT_EQ(code_of_variant(request, limited), ReasonCode::kWorkspace);
  request.model.has_soft_cap = true;
  EXPECT_EQ(code_of_variant(request, limited), ReasonCode::kSoftCap);
}

TEST(SelectAttention, MarksWhatIsNotBuilt) {
  SelectRequest request = request_for("gpt-oss-20b", "sm80");
  request.device.is_simulated = false;
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_FALSE(plan);
  EXPECT_EQ(
      plan.error().message,
      "no attention backend can run gpt-oss-20b on NVIDIA A100 (SM 8.0) (prefill.full). Nearest is"
      " cuda-mma: not built into this binary"
  );
  request.ranks_unbuilt = true;
  EXPECT_EQ(backend_of(*select_attention(request)), "cuda-mma");
}

TEST(SelectAttention, SaysWhatWouldMakeTheNearestRun) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu");
  request.model.is_mla = true;
  EXPECT_THAT(
      select_attention(request).error().message,
      HasSubstr("no kernel for multi-head latent attention")
  );
}

TEST(SelectAttention, StoresFp8InFullLayersOnly) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu");
  request.run.kv_type = KVType::kFp8;
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(backend_of(*plan), "cpu-flash");
  EXPECT_THAT(startup_line(*plan), HasSubstr("KV fp8 (full layers only)"));
  request.run.fp8_full_layers_only = false;
  const Result<AttentionPlan> sliding_too = select_attention(request);
  EXPECT_TRUE(!sliding_too || backend_of(*sliding_too) != "cpu-flash");
}

ProbeReport passed() {
  return {.num_cases = 8, .num_passed = 8, .limit = 0.02};
}

ProbeReport failed() {
  return {
      .num_cases = 8,
      .num_passed = 7,
      .max_error = 0.31,
      .limit = 0.02,
      .worst_case = "window 128"};
}

TEST(SelectAttention, ProbesWhatItIsAboutToUse) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu");
  std::vector<std::string> probed;
  request.probe = [&](const BackendInfo& backend, const KernelVariant& variant, AttentionSlot slot
                  ) {
    probed.push_back(
        std::string(backend.name) + " " + std::string(variant.name) + " " +
        std::string(name_of(slot))
    );
    return passed();
  };
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_TRUE(plan);
  EXPECT_THAT(
      probed,
      testing::ElementsAre(
          "cpu-flash tiled prefill.full",
          "cpu-flash window prefill.sliding",
          "cpu-flash split-kv decode.full",
          "cpu-flash window decode.sliding"
      )
  );
  EXPECT_THAT(plan_text(*plan), HasSubstr("<- chosen; probed 32/32"));
}

TEST(SelectAttention, UsesTheNextWhenAProbeFails) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu");
  request.probe = [](const BackendInfo& backend, const KernelVariant&, AttentionSlot slot) {
    const bool is_broken = backend.name == "cpu-flash" && slot == AttentionSlot::kDecodeSliding;
    return is_broken ? failed() : passed();
  };
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_TRUE(plan) << plan.error().message;
  // One class for all slots: what is left of cpu-flash would not give the same bits.
  EXPECT_EQ(backend_of(*plan), "cpu-ref");
  EXPECT_EQ(plan->numerics_class, "cpu-ref");
  EXPECT_EQ(
      messages_of(*plan),
      "warning: cpu-flash failed its start-up check (decode, window 128: max error 0.31, limit "
      "0.02)"
      " on this CPU (avx512). It is disabled; using cpu-ref. Please report.\n"
  );
  const SlotStanding& standing = row_of(*plan, "cpu-flash").slots[3];
  EXPECT_EQ(standing.reasons.front().code, ReasonCode::kProbeFailed);
  EXPECT_EQ(standing.probe, failed());
}

TEST(SelectAttention, NamesTheDriverOfAGpuThatFails) {
  SelectRequest request = request_for("gpt-oss-20b", "sm90");
  request.device.is_simulated = false;
  request.device.driver = "570.86";
  std::vector<BackendInfo> built;
  std::vector<const BackendInfo*> pointers;
  for (const BackendInfo* backend : test_backends()) {
    built.push_back(*backend);
    built.back().make = make_nothing;
  }
  for (const BackendInfo& backend : built) {
    pointers.push_back(&backend);
  }
  request.backends = pointers;
  request.probe = [](const BackendInfo& backend, const KernelVariant&, AttentionSlot slot) {
    const bool is_broken = backend.name == "cuda-hopper" && slot == AttentionSlot::kDecodeSliding;
    return is_broken ? failed() : passed();
  };
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(
      messages_of(*plan),
      HasSubstr("cuda-hopper failed its start-up check (decode, window 128: max error 0.31, limit "
                "0.02) on driver 570.86. It is disabled; using cuda-mma. Please report.")
  );
}

TEST(SelectAttention, FailsWhenEveryProbeFails) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu");
  request.probe = [](const BackendInfo&, const KernelVariant&, AttentionSlot) { return failed(); };
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("failed its start-up check"));
}

TEST(SelectAttention, NeverProbesASimulatedDevice) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu:avx2");
  request.probe = [](const BackendInfo&, const KernelVariant&, AttentionSlot) {
    ADD_FAILURE() << "probed";
    return failed();
  };
  EXPECT_TRUE(select_attention(request));
}

TEST(SelectAttention, TellsOfMixedNumerics) {
  const AttentionPlan plan = plan_for("gpt-oss-20b", "cpu", {"--attention-backend decode=cpu-ref"});
  EXPECT_EQ(backend_of(plan), "mixed");
  EXPECT_EQ(plan.numerics_class, "mixed");
  EXPECT_THAT(messages_of(plan), HasSubstr("The plan mixes cpu-flash and cpu-ref"));
  EXPECT_THAT(startup_line(plan), HasSubstr("equal bits are not promised"));
}

TEST(SelectAttention, SwitchesKernelsByBatchOnlyWhereBitsMayChange) {
  SelectRequest request = request_for("gpt-oss-20b", "sm80");
  EXPECT_TRUE(select_attention(request)->at(AttentionSlot::kDecodeFull).rules.empty());
  request.run.is_deterministic = false;
  const Result<AttentionPlan> plan = select_attention(request);
  const SlotPlan& decode = plan->at(AttentionSlot::kDecodeFull);
  EXPECT_EQ(decode.variant->name, "split-kv");
  ASSERT_EQ(decode.rules.size(), 1U);
  EXPECT_EQ(decode.rules.front().variant->name, "unsplit");
  EXPECT_GE(decode.rules.front().min_sequences, 2);
  EXPECT_THAT(startup_line(*plan), HasSubstr("split-kv, unsplit from "));
}

TEST(SelectAttention, RanksByCalibrationWhereThereIsOne) {
  SelectRequest request = request_for("gpt-oss-20b", "cpu");
  Calibration calibration = {
      .device = request.device.name,
      .level = "avx512",
      .num_workers = 2,
      .bandwidth_gbs = 20,
      .peak_tflops = 0.3,
      .entries = {},
  };
  for (const AttentionSlot slot : kAttentionSlots) {
    calibration.entries.push_back({"cpu-ref", "row", slot, 1.0, 0.9, 0.9});
    for (const std::string_view variant : {"tiled", "split-kv", "window"}) {
      calibration.entries.push_back({"cpu-flash", std::string(variant), slot, 1.0, 0.01, 0.01});
    }
  }
  request.calibration = &calibration;
  const Result<AttentionPlan> plan = select_attention(request);
  EXPECT_EQ(backend_of(*plan), "cpu-ref");
  EXPECT_THAT(runner_up_line(*plan), HasSubstr("next best cpu-flash, measured "));
  EXPECT_THAT(plan_text(*plan), Not(HasSubstr("est. ")));
  calibration.num_workers = 8;
  const Result<AttentionPlan> other = select_attention(request);
  EXPECT_EQ(backend_of(*other), "cpu-flash");
  EXPECT_THAT(messages_of(*other), HasSubstr("calibration was made on another device"));
}

}  // namespace
}  // namespace rapt
