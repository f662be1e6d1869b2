#include "support/broken_attention.h"

#include <memory>
#include <vector>

#include "attention/backend.h"
#include "attention/registry.h"

namespace rapt::testing {

namespace {

class BrokenAttention : public AttentionBackend {
 public:
  explicit BrokenAttention(std::unique_ptr<AttentionBackend> right) : right_(std::move(right)) {}

  std::string_view name() const override { return "broken-sinks"; }

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
    AttentionSpec forgetful = spec;
    forgetful.sinks = Sinks::none();
    for (const std::int32_t idx : sequences) {
      const bool is_decode = metadata.sequences[static_cast<std::size_t>(idx)].num_rows == 1;
      right_->run(
          stream, is_decode ? forgetful : spec, layer, metadata, std::span(&idx, 1), q, out
      );
    }
  }

 private:
  std::unique_ptr<AttentionBackend> right_;
};

constexpr KVType kKVTypes[] = {KVType::kBF16, KVType::kF32};

constexpr KernelVariant variant(std::string_view name, SlotSet slots) {
  KernelVariant made;
  made.name = name;
  made.description = "a kernel for tests";
  made.slots = slots;
  made.has_sinks = true;
  made.has_window = true;
  made.kv_types = kKVTypes;
  made.batch_invariance = BatchInvariance::kAlways;
  made.cost = {
      .fixed_us = 0.1, .bandwidth_share = 1.0, .compute_share = 1.0, .splits_context = true};
  return made;
}

constexpr KernelVariant kVariants[] = {
    variant("prompts", SlotSet::of(AttentionPhase::kPrefill)),
    variant("tokens", SlotSet::of(AttentionPhase::kDecode)),
};

constexpr BackendInfo kInfo = {
    .name = "broken-sinks",
    .description = "drops sinks in decode",
    .device = DeviceKind::kCpu,
    .variants = kVariants,
    .library = {},
    .numerics_class = "cpu-ref",
    .rank = 1,
    .make = [](const AttentionBackendOptions& options) -> std::unique_ptr<AttentionBackend> {
      return std::make_unique<BrokenAttention>(find_attention_backend("cpu-ref")->make(options));
    },
};

}  // namespace

const BackendInfo& broken_attention_info() {
  return kInfo;
}

}  // namespace rapt::testing
