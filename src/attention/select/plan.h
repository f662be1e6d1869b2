#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/backend_info.h"
#include "attention/select/attention_model.h"
#include "attention/select/device.h"
#include "attention/select/message.h"
#include "attention/select/reason.h"
#include "attention/select/settings.h"
#include "attention/slots.h"
#include "base/json.h"

// The outcome of choosing: which variant fills which slot, the whole table behind it, and what the
// user should be told. Immutable after select_attention(); points into the registry.

namespace rapt {

// What the run asks for, beside the model.
struct AttentionRunOptions {
  KVType kv_type = KVType::kBF16;
  bool fp8_full_layers_only = true;             // with kFp8, sliding layers keep BF16
  int block_size = 0;                           // 0: not fixed, the plan's best
  int max_sequences = 0;                        // in one step; 0: no matter
  std::int64_t max_context = 0;                 // 0: the model's
  bool is_deterministic = true;                 // the same bits whoever shares the batch
  GraphLevel graph_level = GraphLevel::kNever;  // at least
  bool needs_mixed_batches = false;             // one call for prompts and single tokens together
  std::uint64_t max_workspace_bytes = 0;        // 0: no matter
  std::vector<std::string> disabled_backends = {};  // by name, e.g. for a comparison
};

// What the numeric check of a variant found (steps 4 of the selection).
struct ProbeReport {
  int num_cases = 0;
  int num_passed = 0;
  double max_error = 0.0;
  double limit = 0.0;
  std::string worst_case = {};  // "window 128", "sink -inf"; "" when all passed

  bool passed() const { return num_passed == num_cases; }

  friend bool operator==(const ProbeReport&, const ProbeReport&) = default;
};

// A backend's standing for one slot.
struct SlotStanding {
  const KernelVariant* variant = nullptr;  // null: it has no kernel for the slot
  std::vector<Reason> reasons;             // why it cannot be used; empty: valid
  bool is_built = false;
  double cost = 0.0;  // mean over the cost buckets of time / the device's ideal time; 0 if invalid
  double typical_us = 0.0;  // an 8k prompt, or 32 x 8k decode: all layers of the kind; 0 if invalid
  std::optional<ProbeReport> probe;

  bool is_valid() const { return variant != nullptr && reasons.empty(); }
};

struct BackendStanding {
  const BackendInfo* backend = nullptr;
  std::array<SlotStanding, kNumAttentionSlots> slots;
  std::optional<double> prefill_8k_us;    // estimates over all layers; absent: cannot run
  std::optional<double> decode_32x8k_us;  // 32 sequences of 8192 positions, one token each
  bool is_estimate = true;                // no calibration for it
};

// Another variant of the slot's backend for part of its range.
struct BucketRule {
  const KernelVariant* variant = nullptr;
  int min_sequences = 0;  // from this many sequences in a step on
};

struct SlotPlan {
  AttentionSlot slot = AttentionSlot::kPrefillFull;
  bool is_used = true;                   // false: the model has no such layers
  const BackendInfo* backend = nullptr;  // null only when not used
  const KernelVariant* variant = nullptr;
  std::vector<BucketRule> rules;
  SlotChoice choice;       // what was asked and is followed; is_auto() when auto decided
  std::string alias = {};  // the foreign name that was asked for; "" for none
};

struct AttentionPlan {
  AttentionModel model;
  DeviceFacts device;
  AttentionRunOptions run;
  int block_size = 0;  // the one asked for, else what the chosen variants like best
  GraphLevel graph_level = GraphLevel::kNever;  // of the weakest slot
  std::uint64_t workspace_bytes_per_row = 0;    // of the hungriest slot, a row and query head
  std::string numerics_class;  // of all slots: "cpu-flash"; "mixed" keeps no promise of equal bits
  std::array<SlotPlan, kNumAttentionSlots> slots;  // by index_of()
  std::vector<BackendStanding> table;              // best first
  std::vector<AttentionMessage> messages;

  const SlotPlan& at(AttentionSlot slot) const {
    return slots[static_cast<std::size_t>(index_of(slot))];
  }

  // The backend when one fills every used slot, else null.
  const BackendInfo* only_backend() const;
};

// The line logged at every start, and a second one with the runner-up ("" when there is none).
std::string startup_line(const AttentionPlan& plan);
std::string runner_up_line(const AttentionPlan& plan);

// `rapt attention list`: model, device, a row a backend, the messages.
std::string plan_text(const AttentionPlan& plan);

// All of it, for `--json` and GET /v1/engine/attention.
json::object plan_json(const AttentionPlan& plan);

}  // namespace rapt
