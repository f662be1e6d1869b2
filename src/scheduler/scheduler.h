#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcache/kv_cache_manager.h"
#include "request/request.h"
#include "request/wait_reason.h"
#include "scheduler/sequence.h"
#include "scheduler/step_pacer.h"
#include "scheduler/step_plan.h"

namespace rapt {

struct SchedulerConfig {
  int max_num_seqs = 64;  // sequences that may run at once; never more than the tokens below
  int max_num_batched_tokens = 512;  // tokens in one step
  int max_model_len = 0;             // tokens in one sequence, prompt and output
  PaceConfig pace = {};              // how long steps may take while somebody decodes
};

struct SchedulerStats {
  int num_running = 0;  // paused ones too
  int num_waiting = 0;
  int num_paused = 0;  // running sequences that the last plan left out for want of a safe block
};

// Decides what each step computes. Running sequences go first, those that decode before those with
// a prompt to read (so that a long prompt does not hold up anybody's next token); what is left of
// the token budget goes to running prefills, then to waiting sequences in the order of arrival.
// Once somebody decodes in a step, a StepPacer says how many prompt tokens may ride along, so that
// the step does not take long; without decodes a step takes all that its budget holds. Short
// prompts that come together begin to decode together, so that reading one is not slowed by
// another's decoding. Nobody overtakes the head of the queue, nobody is admitted while someone is
// paused, and an admitted sequence keeps its blocks to its end, so every sequence ends.
//
// Owned by the engine, engine thread only, no lock. The cycle is plan, run, commit; add(),
// cancel(), fail() and end_all() come between commit() and plan(). Every span of events is valid
// until the next call. Knows no tensors. A step allocates only when it admits a sequence.
class Scheduler {
 public:
  // So many steps in a row may keep prompts that are read from beginning to decode.
  static constexpr int kMaxHeldSteps = 4;

  // `kv` outlives the scheduler and is used by nobody else meanwhile.
  Scheduler(const SchedulerConfig& config, KVCacheManager& kv);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The most positions that a choice of `request` can come to use. At most kv.max_positions(), or
  // the request must not be added.
  static int max_positions(const Request& request, int max_model_len);

  void add(std::unique_ptr<Sequence> sequence);

  // The next step, empty when there is nothing to do. Give its results to commit() before the next.
  const StepPlan& plan();
  // Appends what was drawn, ends what has come to its end, and tells both: at most one event with
  // `finish` a choice, its last. `seconds` is how long the step took; 0: nobody knows.
  std::span<const TokenEvent> commit(const StepResult& result, double seconds = 0.0);

  // Ends all choices of one request now; unknown ids are fine.
  std::span<const TokenEvent> cancel(RequestId id);
  std::span<const TokenEvent> fail(RequestId id, std::string why);
  // Ends everything.
  std::span<const TokenEvent> end_all(const FinishInfo& finish);

  // True if an idle engine should give requests that are about to come a moment before it plans.
  bool gains_by_company() const { return pacer_.slows_prompts(); }

  bool is_idle() const { return waiting_.empty() && running_.empty(); }

  SchedulerStats stats() const;

  // For onlookers; valid until the next call of anything that changes something.
  std::span<const std::unique_ptr<Sequence>> running() const { return running_; }

  const std::deque<std::unique_ptr<Sequence>>& waiting() const { return waiting_; }

  // Why the last plan left the head of the queue where it is; kNone without a queue.
  WaitReason wait_reason() const { return waiting_.empty() ? WaitReason::kNone : wait_reason_; }

 private:
  // True if this step should go on reading prompts in line rather than begin to decode those that
  // it reads to the end.
  bool should_hold() const;
  // Plans all that decode and, unless they are held, sequences with one token to compute. True if
  // anybody decodes.
  bool schedule_decodes(int& budget);
  // Puts as many of the sequence's tokens into the plan as the budget and the KV cache allow.
  void schedule(Sequence& sequence, int& budget);
  void admit_waiting(int& budget);
  // Why nobody more may be admitted now, whoever it is.
  WaitReason find_wait_reason(int budget) const;
  void commit_slice(const StepSlice& slice, const SliceResult& result);
  std::optional<FinishInfo> find_end(Sequence& sequence, TokenId token) const;
  void end(Sequence& sequence, TokenEvent& event, const FinishInfo& finish);
  std::span<const TokenEvent> end_matching(std::optional<RequestId> id, const FinishInfo& finish);
  TokenEvent& next_event(const Sequence& sequence);

  std::span<const TokenEvent> events() const { return {events_.data(), num_events_}; }

  SchedulerConfig config_;
  KVCacheManager& kv_;
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::vector<std::unique_ptr<Sequence>> running_;  // in the order of admission
  StepPacer pacer_;
  StepPlan plan_;
  bool in_flight_ = false;                      // planned and not yet committed
  bool holds_ = false;                          // in this plan nobody begins to decode
  int num_held_steps_ = 0;                      // plans in a row that held
  WaitReason wait_reason_ = WaitReason::kNone;  // of the head of the queue, in the last plan
  bool short_of_blocks_ = false;  // in this plan somebody got fewer tokens than the budget allowed
  std::vector<TokenEvent> events_;  // the first num_events_ count; the others lend their memory
  std::size_t num_events_ = 0;
};

}  // namespace rapt
