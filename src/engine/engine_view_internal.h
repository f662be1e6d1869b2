#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine_snapshot.h"
#include "kvcache/kv_cache_manager.h"
#include "scheduler/scheduler.h"

namespace rapt {

// Keeps what onlookers may see: a snapshot of the sequences and blocks, and the last ten minutes by
// the second. The engine thread writes, anybody reads. A snapshot is written only when somebody has
// read the last one, so with nobody looking a step costs a few additions; and after warm-up nothing
// here allocates unless somebody looks.
class EngineView {
 public:
  using Clock = std::chrono::steady_clock;

  // Both outlive the view and are read on the engine thread only.
  EngineView(const Scheduler& scheduler, const KVCacheManager& kv);

  // ---- engine thread ----

  void begin_step(const StepPlan& plan);
  void note_first_token(double seconds_since_arrival);
  // Between a request's tokens.
  void note_gap(double seconds);
  // After commit. `plan` has no slices any more that may be followed.
  void end_step(int num_prompt_tokens, int num_generated_tokens);
  // Between two steps, perhaps for long.
  void note_idle();

  // ---- any thread ----

  // `since`: the first second of the history that is wanted.
  EngineSnapshot read(std::int64_t since) const;

 private:
  void write();
  void write_if_idle();
  void write_groups();
  static void fill(SequenceSnapshot& out, const Sequence& sequence);

  std::int64_t second_of(Clock::time_point time) const;

  const Scheduler& scheduler_;
  const KVCacheManager& kv_;
  const Clock::time_point start_;
  StepSnapshot step_;     // the step under way; engine thread only
  EngineSecond pending_;  // of the step under way; engine thread only

  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_wanted_{true};
  EngineSnapshot snapshot_;         // without now and seconds
  std::vector<EngineSecond> ring_;  // [kHistorySeconds], at second % size; second -1: none
};

}  // namespace rapt
