#pragma once

#include <functional>
#include <span>
#include <string>

#include "attention/registry.h"
#include "attention/select/calibration.h"
#include "attention/select/plan.h"
#include "base/result.h"

namespace rapt {

// Runs a variant's numeric check on this device. Called for variants about to be chosen only, each
// backend, variant and slot once.
using AttentionProbe =
    std::function<ProbeReport(const BackendInfo&, const KernelVariant&, AttentionSlot)>;

struct SelectRequest {
  AttentionModel model = {};
  DeviceFacts device = {};
  AttentionRunOptions run = {};
  std::span<const AttentionSetting> settings = {};
  const Calibration* calibration = nullptr;  // null: the registry's numbers, shown as estimates
  AttentionProbe probe = nullptr;            // null: no check (simulated devices are never probed)
  // Ranks backends that this binary does not have as if it had them. Always so on simulated
  // devices.
  bool ranks_unbuilt = false;
  std::span<const BackendInfo* const> backends = attention_backends();
};

// Chooses: parse, enumerate, check, probe, cost, choose, explain, verify. Pure but for the probe;
// without one it takes well under a millisecond. The error is what the user should read: a wrong
// name or a backend that cannot run, what would work here, and how to go on (exit code 2).
Result<AttentionPlan> select_attention(const SelectRequest& request);

}  // namespace rapt
