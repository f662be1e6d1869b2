#pragma once

#include <cstdint>
#include <span>

#include "attention/select/selector.h"

// How long a kernel should take: a fixed part, and the longer of moving its bytes and doing its
// arithmetic at the share of the device's limits that it reaches (a roofline). Good enough to rank
// kernels that differ by more than its error; calibration makes it better.

namespace rapt {

// A point at which kernels are compared.
struct CostBucket {
  std::int64_t num_sequences = 1;
  std::int64_t num_tokens = 1;  // new tokens a sequence: a prompt, or 1
  std::int64_t context = 0;     // positions that are there before
};

// Prompts of 128 to 32k tokens; one token of 1 to 128 sequences on 1k to 128k positions.
std::span<const CostBucket> cost_buckets(AttentionPhase phase);

// The two points that tables show.
inline constexpr CostBucket kPrefill8k = {.num_sequences = 1, .num_tokens = 8192, .context = 0};
inline constexpr CostBucket kDecode32x8k = {.num_sequences = 32, .num_tokens = 1, .context = 8192};

class CostModel {
 public:
  explicit CostModel(const SelectRequest& request);

  // Microseconds for all layers of the slot's kind.
  double time_us(
      const BackendInfo& backend,
      const KernelVariant& variant,
      AttentionSlot slot,
      const CostBucket& bucket
  ) const;

  // What a kernel at the device's limits would take, plus a little for calling it.
  double ideal_us(AttentionSlot slot, const CostBucket& bucket) const;

  // Mean over the phase's buckets of time over ideal time: each counts the same, however long.
  double slot_cost(const BackendInfo& backend, const KernelVariant& variant, AttentionSlot slot)
      const;

  // The same over the decode buckets of one batch size.
  double batch_cost(
      const BackendInfo& backend,
      const KernelVariant& variant,
      AttentionSlot slot,
      std::int64_t num_sequences
  ) const;

  bool is_measured(const BackendInfo& backend) const;

  // Whether the request's calibration was made on this device.
  bool uses_calibration() const { return calibration_ != nullptr; }

 private:
  struct Work {
    double flops = 0.0;
    double kv_bytes = 0.0;   // each key and value once
    double row_bytes = 0.0;  // queries and outputs
    double num_layers = 0.0;
  };

  Work work_of(AttentionSlot slot, const CostBucket& bucket) const;

  const SelectRequest& request_;
  const Calibration* calibration_ = nullptr;
  double bandwidth_gbs_ = 0.0;
  double calibrated_tflops_ = 0.0;
};

}  // namespace rapt
