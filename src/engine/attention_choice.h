#pragma once

#include <span>

#include "attention/planned_attention.h"
#include "attention/registry.h"
#include "attention/select/calibration.h"
#include "attention/select/device.h"
#include "attention/select/plan.h"
#include "attention/select/settings.h"
#include "base/cpu_info.h"
#include "base/result.h"
#include "engine/engine.h"

// From an engine's configuration to the attention plan it runs: attention/select/ chooses, this
// says what the run asks for, what the machine is, and has every kernel checked before it is used.
// Main thread, before the first weight is read.

namespace rapt {

// What the choice depends on beside the configuration.
struct AttentionQuestion {
  AttentionModel model;
  std::span<const AttentionSetting> settings = {};
  const Calibration* calibration = nullptr;
  std::span<const BackendInfo* const> backends = attention_backends();
};

// This machine as the choice sees it: the level that the configuration computes at, the threads it
// uses. Fails as find_cpu_level() does.
Result<HostFacts> host_facts(const EngineConfig& config);

AttentionRunOptions attention_run_options(const EngineConfig& config);

// Chooses, with a numeric check of each kernel that is about to be used. Wrong names fail before
// any check runs.
Result<AttentionPlan> choose_attention(
    const EngineConfig& config, const AttentionQuestion& question
);

// The backends of a plan's slots, each made once.
PlannedAttention make_planned_attention(
    const AttentionPlan& plan, const AttentionBackendOptions& options
);

}  // namespace rapt
