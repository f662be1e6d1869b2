#pragma once

#include <optional>
#include <string>

#include "app/flags.h"
#include "attention/select/calibration.h"
#include "attention/select/plan.h"
#include "base/result.h"

namespace rapt {

// The measurements that `rapt attention bench` left in the user's cache folder, or nothing. A file
// that cannot be read is told of and left aside.
std::optional<Calibration> load_calibration();

// Where they are kept: $XDG_CACHE_HOME/rapt/attention.json, or below ~/.cache. "" where the
// environment names no such folder.
std::string calibration_path();

// `rapt attention bench`: measures, prints, and keeps the result for later choices.
Result<void> bench_attention(const AttentionOptions& options, const AttentionModel& model);

// Chooses the attention backends of a command that loads the model in the folder `path`: from its
// configuration only, before a weight file is opened. Logs what the user should be told.
Result<AttentionPlan> choose_for_command(const LoadOptions& options, const std::string& path);

}  // namespace rapt
