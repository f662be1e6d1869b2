#include "attention/probe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/backend.h"
#include "attention/registry.h"

namespace rapt {
namespace {

AttentionModel gpt_oss() {
  return *find_attention_preset("gpt-oss-20b");
}

const KernelVariant& variant_of(const BackendInfo& info, AttentionSlot slot) {
  for (const KernelVariant& variant : info.variants) {
    if (variant.slots.contains(slot)) {
      return variant;
    }
  }
  ADD_FAILURE() << info.name << " has nothing for " << name_of(slot);
  return info.variants.front();
}

ProbeReport probe(
    const BackendInfo& info, AttentionSlot slot, ProbeSetting setting, CpuLevel level
) {
  ThreadPool pool(2);
  const Stream stream{&pool, level};
  return probe_attention(stream, info, variant_of(info, slot), slot, setting);
}

// The ways in which attention has been got wrong: each changes what a right backend is told.
enum class Fault {
  kDropsSinks,
  kDropsSinksInDecode,
  kScalesSinks,
  kShiftsSinks,
  kShortWindow,
  kNan
};

class FaultyBackend : public AttentionBackend {
 public:
  FaultyBackend(Fault fault, const AttentionBackendOptions& options)
      : fault_(fault), right_(find_attention_backend("cpu-flash")->make(options)) {}

  std::string_view name() const override { return "faulty"; }

  bool supports(const AttentionSpec& spec) const override { return right_->supports(spec); }

  void run(
      const Stream& stream,
      const AttentionSpec& spec,
      const KVLayerView& layer,
      const AttentionMetadata& metadata,
      std::span<const std::int32_t> sequences,
      Tensor q,
      Tensor out
  ) override {
    AttentionSpec changed = spec;
    std::vector<float> sinks(spec.sinks.size());
    for (std::size_t head = 0; head < sinks.size(); ++head) {
      const float sink = *spec.sinks.of_head(static_cast<std::int64_t>(head));
      sinks[fault_ == Fault::kShiftsSinks ? (head + 1) % sinks.size() : head] =
          fault_ == Fault::kScalesSinks ? sink * spec.scale : sink;
    }
    changed.sinks = Sinks::of(sinks);
    const bool is_decode = metadata.sequences.front().num_rows == 1;
    if (fault_ == Fault::kDropsSinks || (fault_ == Fault::kDropsSinksInDecode && is_decode)) {
      changed.sinks = Sinks::none();
    }
    if (fault_ == Fault::kShortWindow && spec.window > 0) {
      --changed.window;
    }
    right_->run(stream, changed, layer, metadata, sequences, q, out);
    if (fault_ == Fault::kNan) {
      out.f32()[3] = NAN;
    }
  }

 private:
  Fault fault_;
  std::unique_ptr<AttentionBackend> right_;
};

template <Fault kFault>
BackendInfo faulty() {
  BackendInfo info = *find_attention_backend("cpu-flash");
  info.name = "faulty";
  info.make = [](const AttentionBackendOptions& options) -> std::unique_ptr<AttentionBackend> {
    return std::make_unique<FaultyBackend>(kFault, options);
  };
  return info;
}

TEST(AttentionProbe, PassesEveryBuiltVariantQuickly) {
  for (const BackendInfo* info : attention_backends()) {
    if (info->make == nullptr || info->device != DeviceKind::kCpu) {
      continue;
    }
    for (const AttentionSlot slot : kAttentionSlots) {
      for (const KVType type : {KVType::kBF16, KVType::kF32, KVType::kFp8}) {
        const ProbeReport report =
            probe(*info, slot, {.model = gpt_oss(), .kv_type = type}, best_cpu_level());
        EXPECT_TRUE(report.passed()) << info->name << ' ' << report.worst_case;
        EXPECT_GE(report.num_cases, 4);
        EXPECT_LT(report.max_error, report.limit / 10);
        EXPECT_EQ(report.worst_case, "");
      }
    }
  }
}

TEST(AttentionProbe, PassesTheWholeGrid) {
  AttentionModel small = gpt_oss();
  small.num_heads = 4;
  small.num_kv_heads = 2;
  small.head_dim = 16;
  for (const AttentionSlot slot : kAttentionSlots) {
    const ProbeReport report = probe(
        *find_attention_backend("cpu-flash"),
        slot,
        {.model = small, .block_size = 32, .extent = ProbeExtent::kFull},
        best_cpu_level()
    );
    EXPECT_TRUE(report.passed()) << name_of(slot) << ' ' << report.worst_case;
    EXPECT_GE(report.num_cases, phase_of(slot) == AttentionPhase::kDecode ? 33 : 60);
  }
}

TEST(AttentionProbe, TakesModelsWithoutSinksAndWithSoftCaps) {
  AttentionModel plain = gpt_oss();
  plain.has_sinks = false;
  plain.has_soft_cap = true;
  plain.num_heads = 24;
  plain.num_kv_heads = 8;
  plain.head_dim = 128;
  for (const AttentionSlot slot : kAttentionSlots) {
    const ProbeReport report =
        probe(*find_attention_backend("cpu-flash"), slot, {.model = plain}, best_cpu_level());
    EXPECT_TRUE(report.passed()) << report.worst_case;
  }
}

TEST(AttentionProbe, CatchesEveryFault) {
  const ProbeSetting setting = {.model = gpt_oss()};
  const auto fails = [&](const BackendInfo& info, AttentionSlot slot) {
    const ProbeReport report = probe(info, slot, setting, best_cpu_level());
    EXPECT_EQ(report.passed(), report.worst_case.empty());
    EXPECT_EQ(report.passed(), report.max_error <= report.limit);
    return !report.passed();
  };
  for (const AttentionSlot slot : kAttentionSlots) {
    EXPECT_TRUE(fails(faulty<Fault::kDropsSinks>(), slot));
    EXPECT_TRUE(fails(faulty<Fault::kScalesSinks>(), slot));
    EXPECT_TRUE(fails(faulty<Fault::kShiftsSinks>(), slot));
    EXPECT_TRUE(fails(faulty<Fault::kNan>(), slot));
    EXPECT_EQ(
        fails(faulty<Fault::kShortWindow>(), slot),
        layer_kind_of(slot) == AttentionLayerKind::kSliding
    );
    EXPECT_EQ(
        fails(faulty<Fault::kDropsSinksInDecode>(), slot), phase_of(slot) == AttentionPhase::kDecode
    );
  }
}

TEST(AttentionProbe, TellsTheErrorAndTheCase) {
  const ProbeReport report = probe(
      faulty<Fault::kDropsSinksInDecode>(),
      AttentionSlot::kDecodeSliding,
      {.model = gpt_oss()},
      best_cpu_level()
  );
  EXPECT_GT(report.max_error, 0.1);
  EXPECT_LT(report.max_error, 10.0);
  EXPECT_NE(report.worst_case.find("window 128"), std::string::npos) << report.worst_case;
}

}  // namespace
}  // namespace rapt
