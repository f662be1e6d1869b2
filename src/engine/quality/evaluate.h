#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/engine.h"
#include "engine/quality/quality_score.h"
#include "engine/quality/text_windows.h"
#include "models/model.h"

namespace rapt {

// What is to be evaluated: a text's tokens, the windows it is read in, and the configurations that
// compute. Every configuration names its attention plan.
struct QualityTask {
  std::span<const std::int32_t> tokens;
  std::vector<TextWindow> windows;
  // Put before every window, as context only; together they may be as long as the configurations'
  // `max_model_len`. Most often BOS, or nothing; no longer than a chunk.
  std::span<const std::int32_t> begin = {};
  EngineConfig reference;  // what the others are measured against
  std::vector<EngineConfig> settings;
  // Called after each chunk with the predictions scored so far, of all in the end; optional.
  std::function<void(int num_scored)> on_progress = {};
};

struct QualityResult {
  QualityScore reference;
  std::vector<QualityScore> settings;  // in the task's order
};

// Runs every window through the model with the reference and then with each setting, chunk by chunk
// and side by side, so that no more than a few rows of logits are kept. The settings' numbers are
// those of an engine of that configuration, to the bit. Calling thread, which works as the pool's
// worker 0. An error when a configuration asks for what the model or the machine does not have, or
// when logits are not finite.
Result<QualityResult> evaluate_quality(
    const Model& model, ThreadPool& pool, const QualityTask& task
);

}  // namespace rapt
