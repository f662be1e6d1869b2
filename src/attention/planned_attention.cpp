#include "attention/planned_attention.h"

#include <utility>

#include "base/check.h"

namespace rapt {

PlannedAttention::PlannedAttention(std::unique_ptr<AttentionBackend> backend) : backend_of_slot_{} {
  backends_.push_back(std::move(backend));
}

PlannedAttention::PlannedAttention(
    std::vector<std::unique_ptr<AttentionBackend>> backends,
    std::array<int, kNumAttentionSlots> backend_of_slot
)
    : backends_(std::move(backends)), backend_of_slot_(backend_of_slot) {
  for (const int idx : backend_of_slot_) {
    CHECK(idx >= 0 && idx < static_cast<int>(backends_.size()), "backend ", idx);
  }
}

AttentionBackend& PlannedAttention::backend(AttentionSlot slot) const {
  const int idx = backend_of_slot_[static_cast<std::size_t>(index_of(slot))];
  return *backends_[static_cast<std::size_t>(idx)];
}

void PlannedAttention::run(
    const Stream& stream,
    const AttentionSpec& spec,
    const KVLayerView& layer,
    const AttentionMetadata& metadata,
    Tensor q,
    Tensor out
) {
  const AttentionLayerKind kind =
      spec.window > 0 ? AttentionLayerKind::kSliding : AttentionLayerKind::kFull;
  AttentionBackend& prefill = backend(make_slot(AttentionPhase::kPrefill, kind));
  AttentionBackend& decode = backend(make_slot(AttentionPhase::kDecode, kind));
  const auto run_some = [&](AttentionBackend& backend, auto&& is_served) {
    sequences_.clear();
    for (std::int32_t idx = 0; idx < metadata.num_sequences; ++idx) {
      if (is_served(metadata.sequences[static_cast<std::size_t>(idx)])) {
        sequences_.push_back(idx);
      }
    }
    if (!sequences_.empty()) {
      backend.run(stream, spec, layer, metadata, sequences_, q, out);
    }
  };
  if (&prefill == &decode) {
    run_some(prefill, [](const SequenceRows&) { return true; });
    return;
  }
  run_some(decode, [](const SequenceRows& rows) { return rows.num_rows == 1; });
  run_some(prefill, [](const SequenceRows& rows) { return rows.num_rows != 1; });
}

}  // namespace rapt
