#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "attention/backend.h"
#include "attention/slots.h"

namespace rapt {

// The backends of an attention plan and the way from a layer's call to them: sequences with one row
// in the step are decode, the others prefill; layers with a window are sliding, the others full.
// A backend that serves both phases of a layer is called once. Owned by the runner, engine thread
// only; no call after the first step of a size allocates memory.
class PlannedAttention {
 public:
  // One backend in all four slots.
  explicit PlannedAttention(std::unique_ptr<AttentionBackend> backend);
  // Slot s is served by backends[backend_of_slot[index_of(s)]].
  PlannedAttention(
      std::vector<std::unique_ptr<AttentionBackend>> backends,
      std::array<int, kNumAttentionSlots> backend_of_slot
  );

  // AttentionBackend::run() for all of the step's sequences.
  void run(
      const Stream& stream,
      const AttentionSpec& spec,
      const KVLayerView& layer,
      const AttentionMetadata& metadata,
      Tensor q,   // [num_tokens, num_heads, head_dim] fp32
      Tensor out  // [num_tokens, num_heads, head_dim] fp32
  );

  AttentionBackend& backend(AttentionSlot slot) const;

 private:
  std::vector<std::unique_ptr<AttentionBackend>> backends_;
  std::array<int, kNumAttentionSlots> backend_of_slot_;
  std::vector<std::int32_t> sequences_;  // of the call under way
};

}  // namespace rapt
