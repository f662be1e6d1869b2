#include "scheduler/step_pacer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace rapt {

StepPacer::StepPacer(const PaceConfig& config, int max_tokens)
    : target_seconds_(config.target_seconds),
      min_prompt_tokens_(std::clamp(config.min_prompt_tokens, 1, std::max(max_tokens, 1))),
      max_tokens_(std::max(max_tokens, 1)),
      fitting_tokens_(min_prompt_tokens_) {
  CHECK(config.target_seconds >= 0.0, "target_seconds=", config.target_seconds);
}

int StepPacer::max_prompt_tokens(int num_decodes) const {
  if (target_seconds_ == 0.0) {
    return max_tokens_;
  }
  return std::max(static_cast<int>(fitting_tokens_) - num_decodes, min_prompt_tokens_);
}

bool StepPacer::slows_prompts() const {
  return target_seconds_ > 0.0 && fitting_tokens_ < max_tokens_ / 2;
}

void StepPacer::note_step(int num_tokens, double seconds) {
  if (target_seconds_ == 0.0 || num_tokens <= 0 || !(seconds > 0.0)) {
    return;
  }
  const double bound = num_tokens * target_seconds_ / seconds;
  if (seconds <= target_seconds_ && bound > fitting_tokens_) {
    // Half of the way, as ratios go: one step that happened to be fast does not make the next slow.
    fitting_tokens_ = std::sqrt(fitting_tokens_ * bound);
  } else if (seconds > target_seconds_ && bound < fitting_tokens_) {
    // All of the way, but no more than half of it goes at once: a single step may have been slow
    // for reasons of its own, such as weights that came from the disk.
    fitting_tokens_ = std::max(bound, fitting_tokens_ / 2);
  }
  fitting_tokens_ = std::clamp<double>(fitting_tokens_, min_prompt_tokens_, max_tokens_);
}

}  // namespace rapt
