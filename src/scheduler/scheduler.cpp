#include "scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace rapt {

namespace {

bool contains(const std::vector<TokenId>& ids, TokenId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool is_decoding(const Sequence& sequence) {
  return sequence.num_output() > 0;
}

// Somebody waits for its next token, or it is cheap.
bool goes_first(const Sequence& sequence) {
  return is_decoding(sequence) || sequence.num_uncomputed() == 1;
}

// With fewer tokens a step than sequences, some would never get their turn.
int max_running(const SchedulerConfig& config) {
  return std::min(config.max_num_seqs, config.max_num_batched_tokens);
}

}  // namespace

Scheduler::Scheduler(const SchedulerConfig& config, KVCacheManager& kv)
    : config_(config), kv_(kv), pacer_(config.pace, config.max_num_batched_tokens) {
  CHECK(max_running(config) > 0, config.max_num_seqs, " ", config.max_num_batched_tokens);
  CHECK(config.max_model_len > 0, "max_model_len=", config.max_model_len);
  running_.reserve(static_cast<std::size_t>(max_running(config)));
  plan_.slices.reserve(running_.capacity());
  events_.reserve(running_.capacity());
}

Scheduler::~Scheduler() {
  for (const auto& sequence : running_) {
    kv_.release(sequence->blocks);
  }
}

int Scheduler::max_positions(const Request& request, int max_model_len) {
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  return static_cast<int>(std::min<std::int64_t>(prompt + request.stop.max_tokens, max_model_len));
}

void Scheduler::add(std::unique_ptr<Sequence> sequence) {
  const Request& request = *sequence->request;
  CHECK(!request.prompt.empty(), "request ", request.id, " has no prompt");
  CHECK(sequence->num_prompt() <= config_.max_model_len, "prompt of ", sequence->num_prompt());
  CHECK(
      max_positions(request, config_.max_model_len) <= kv_.max_positions(),
      "request ",
      request.id,
      " can never fit"
  );
  waiting_.push_back(std::move(sequence));
}

const StepPlan& Scheduler::plan() {
  CHECK(!in_flight_, "the last plan was not committed");
  plan_.slices.clear();
  plan_.num_tokens = 0;
  plan_.num_sampled = 0;
  plan_.num_prompt_tokens = 0;
  short_of_blocks_ = false;

  int budget = config_.max_num_batched_tokens;
  holds_ = should_hold();
  if (schedule_decodes(budget)) {
    budget = std::min(budget, pacer_.max_prompt_tokens(plan_.num_tokens));
  }
  plan_.max_tokens = plan_.num_tokens + budget;
  for (const auto& sequence : running_) {
    if (!goes_first(*sequence)) {
      schedule(*sequence, budget);
    }
  }
  admit_waiting(budget);
  if (holds_ && plan_.empty()) {
    holds_ = false;  // for want of blocks nobody in line can be read
    schedule_decodes(budget);
  }
  num_held_steps_ = holds_ ? num_held_steps_ + 1 : 0;

  in_flight_ = !plan_.empty();
  CHECK(in_flight_ || is_idle(), "nobody can go on");
  return plan_;
}

// Where decodes slow the reading, a prompt that is followed by others gains little by beginning at
// once: it would keep them waiting and decode next to nobody, which costs almost as much as
// decoding with all. But it does not wait for a prompt longer than a step, or for more than a few
// steps.
bool Scheduler::should_hold() const {
  if (!pacer_.slows_prompts() || num_held_steps_ == kMaxHeldSteps) {
    return false;
  }
  // Whoever the budget does not reach to the end of decides.
  int budget = config_.max_num_batched_tokens;
  for (const auto& sequence : running_) {
    if (is_decoding(*sequence)) {
      return false;
    }
    if (sequence->num_uncomputed() > budget) {
      return sequence->num_uncomputed() <= config_.max_num_batched_tokens;
    }
    budget -= sequence->num_uncomputed();
  }
  const auto room = static_cast<std::size_t>(max_running(config_)) - running_.size();
  for (std::size_t idx = 0; idx < std::min(room, waiting_.size()); ++idx) {
    const int num_prompt = waiting_[idx]->num_prompt();
    if (num_prompt > budget) {
      return num_prompt <= config_.max_num_batched_tokens;
    }
    if (num_prompt == 1) {
      return false;  // nothing of it could be read and something held
    }
    budget -= num_prompt;
  }
  return false;
}

bool Scheduler::schedule_decodes(int& budget) {
  bool any = false;
  for (const auto& sequence : running_) {
    sequence->is_paused = false;
    if (goes_first(*sequence) && !(holds_ && !is_decoding(*sequence))) {
      schedule(*sequence, budget);
      any = any || (is_decoding(*sequence) && sequence->num_scheduled > 0);
    }
  }
  return any;
}

void Scheduler::schedule(Sequence& sequence, int& budget) {
  // Who is held keeps its last token, of which the first of its answer is drawn, for later.
  const int wanted = std::min(budget, sequence.num_uncomputed() - (holds_ ? 1 : 0));
  if (wanted == 0) {
    return;
  }
  const int granted = kv_.grow(sequence.blocks, sequence.num_computed, wanted);
  short_of_blocks_ = short_of_blocks_ || granted < wanted;
  sequence.is_paused = granted == 0;
  if (granted == 0) {
    return;
  }
  const Request& request = *sequence.request;
  StepSlice slice{
      .sequence = &sequence,
      .first_position = sequence.num_computed,
      .num_tokens = granted,
      .all_logits = request.logits_tap != nullptr && request.tap_all_positions};
  slice.samples = slice.end_position() == sequence.num_tokens() && request.stop.max_tokens > 0;
  sequence.num_scheduled = granted;
  budget -= granted;
  plan_.num_tokens += granted;
  plan_.num_sampled += slice.samples ? 1 : 0;
  plan_.num_prompt_tokens +=
      std::max(0, std::min(slice.end_position(), sequence.num_prompt()) - slice.first_position);
  plan_.slices.push_back(slice);
}

WaitReason Scheduler::find_wait_reason(int budget) const {
  if (static_cast<int>(running_.size()) >= max_running(config_)) {
    return WaitReason::kSequences;
  }
  // Blocks that a newcomer took now would be missed by those who wait for them already.
  if (short_of_blocks_) {
    return WaitReason::kBlocks;
  }
  return budget > 0 ? WaitReason::kNone : WaitReason::kTokens;
}

void Scheduler::admit_waiting(int& budget) {
  while (!waiting_.empty()) {
    wait_reason_ = find_wait_reason(budget);
    if (wait_reason_ != WaitReason::kNone) {
      return;
    }
    Sequence& sequence = *waiting_.front();
    const int max_positions = Scheduler::max_positions(*sequence.request, config_.max_model_len);
    if (!kv_.admit(sequence.blocks, max_positions)) {
      wait_reason_ = WaitReason::kBlocks;
      return;
    }
    if (sequence.tokens.empty()) {
      // A prompt that fills the context still gets a token, which is never computed.
      sequence.tokens.reserve(static_cast<std::size_t>(max_positions) + 1);
      sequence.tokens = sequence.request->prompt;
    }
    schedule(sequence, budget);
    if (sequence.num_scheduled == 0) {
      sequence.is_paused = false;
      kv_.release(sequence.blocks);
      wait_reason_ = WaitReason::kBlocks;
      return;
    }
    sequence.status = SequenceStatus::kRunning;
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

std::span<const TokenEvent> Scheduler::commit(const StepResult& result, double seconds) {
  CHECK(in_flight_, "nothing was planned");
  CHECK(result.slices.size() == plan_.slices.size(), result.slices.size(), " results");
  in_flight_ = false;
  pacer_.note_step(plan_.num_tokens, seconds);
  num_events_ = 0;
  for (std::size_t idx = 0; idx < plan_.slices.size(); ++idx) {
    commit_slice(plan_.slices[idx], result.slices[idx]);
  }
  std::erase_if(running_, [](const auto& sequence) {
    return sequence->status == SequenceStatus::kEnded;
  });
  return events();
}

void Scheduler::commit_slice(const StepSlice& slice, const SliceResult& result) {
  Sequence& sequence = *slice.sequence;
  sequence.num_computed += slice.num_tokens;
  sequence.num_scheduled = 0;
  if (!result.error.empty()) {
    end(sequence,
        next_event(sequence),
        FinishInfo{.reason = FinishReason::kError, .error = std::string(result.error)});
    return;
  }
  CHECK(slice.samples == !result.tokens.empty(), result.tokens.size(), " tokens drawn");
  for (const SampledToken& sampled : result.tokens) {
    sequence.tokens.push_back(sampled.token);
    if (sequence.constraint) {
      sequence.constraint->accept(sampled.token);
    }
    TokenEvent& event = next_event(sequence);
    event.token = sampled.token;
    event.logprob = sampled.logprob;
    event.top_logprobs = sampled.top_logprobs;
    if (const auto finish = find_end(sequence, sampled.token)) {
      end(sequence, event, *finish);
      return;
    }
  }
  if (sequence.num_uncomputed() == 0) {
    // Only a request for no tokens at all has its prompt computed and nothing drawn.
    end(sequence, next_event(sequence), FinishInfo{.reason = FinishReason::kLength});
    return;
  }
  kv_.free_outside_window(sequence.blocks, sequence.num_computed);
}

std::optional<FinishInfo> Scheduler::find_end(Sequence& sequence, TokenId token) const {
  const StopRules& rules = sequence.request->stop;
  const int num_output = sequence.num_output();
  // The matcher follows the text from the start, also while it may not end it yet.
  const std::optional<int> stop_string =
      sequence.stop_matcher ? sequence.stop_matcher->accept(token) : std::nullopt;
  if (num_output > rules.min_tokens) {
    if ((!rules.ignore_eos && contains(rules.eos_token_ids, token)) ||
        contains(rules.stop_token_ids, token)) {
      return FinishInfo{.reason = FinishReason::kStop, .stop_token = token};
    }
    if (stop_string) {
      return FinishInfo{.reason = FinishReason::kStop, .stop_string = stop_string};
    }
  }
  if (num_output >= rules.max_tokens || sequence.num_tokens() >= config_.max_model_len) {
    return FinishInfo{.reason = FinishReason::kLength};
  }
  return std::nullopt;
}

void Scheduler::end(Sequence& sequence, TokenEvent& event, const FinishInfo& finish) {
  event.finish = finish;
  kv_.release(sequence.blocks);
  sequence.status = SequenceStatus::kEnded;
}

std::span<const TokenEvent> Scheduler::cancel(RequestId id) {
  return end_matching(id, FinishInfo{.reason = FinishReason::kAbort});
}

std::span<const TokenEvent> Scheduler::fail(RequestId id, std::string why) {
  return end_matching(id, FinishInfo{.reason = FinishReason::kError, .error = std::move(why)});
}

std::span<const TokenEvent> Scheduler::end_all(const FinishInfo& finish) {
  return end_matching(std::nullopt, finish);
}

std::span<const TokenEvent> Scheduler::end_matching(
    std::optional<RequestId> id, const FinishInfo& finish
) {
  CHECK(!in_flight_, "a plan is under way");
  num_events_ = 0;
  const auto end_if_matching = [&](const std::unique_ptr<Sequence>& sequence) {
    if (id && sequence->request->id != *id) {
      return false;
    }
    end(*sequence, next_event(*sequence), finish);
    return true;
  };
  std::erase_if(running_, end_if_matching);
  std::erase_if(waiting_, end_if_matching);
  return events();
}

TokenEvent& Scheduler::next_event(const Sequence& sequence) {
  if (num_events_ == events_.size()) {
    events_.emplace_back();
  }
  TokenEvent& event = events_[num_events_++];
  event.request_id = sequence.request->id;
  event.choice = sequence.choice;
  event.token.reset();
  event.logprob.reset();
  event.top_logprobs.clear();
  event.finish.reset();
  return event;
}

SchedulerStats Scheduler::stats() const {
  SchedulerStats stats;
  stats.num_running = static_cast<int>(running_.size());
  stats.num_waiting = static_cast<int>(waiting_.size());
  for (const auto& sequence : running_) {
    stats.num_paused += sequence->is_paused ? 1 : 0;
  }
  return stats;
}

}  // namespace rapt
