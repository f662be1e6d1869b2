#include <algorithm>
#include <chrono>

#include "server/testing/fake_engine_internal.h"

namespace rapt {

namespace {

constexpr std::chrono::seconds kPatience{20};

bool contains(const std::vector<TokenId>& ids, TokenId id) {
  return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

FakeEngine::FakeEngine() : reply_{'o', 'k'} {
  thread_ = std::thread([this] { run(); });
}

FakeEngine::~FakeEngine() {
  stop();
}

void FakeEngine::set_reply(std::vector<TokenId> reply) {
  const std::lock_guard lock(mutex_);
  reply_ = std::move(reply);
}

void FakeEngine::set_script(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void FakeEngine::set_error(std::string error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
}

void FakeEngine::set_submit_outcome(SubmitOutcome outcome) {
  const std::lock_guard lock(mutex_);
  submit_outcome_ = outcome;
}

void FakeEngine::set_health(bool healthy, double seconds_since_progress) {
  const std::lock_guard lock(mutex_);
  stats_.healthy = healthy;
  stats_.seconds_since_progress = seconds_since_progress;
}

void FakeEngine::hold() {
  const std::lock_guard lock(mutex_);
  is_held_ = true;
}

void FakeEngine::release() {
  const std::lock_guard lock(mutex_);
  is_held_ = false;
  num_steps_left_ = -1;
  changed_.notify_all();
}

void FakeEngine::allow_steps(int num_steps) {
  const std::lock_guard lock(mutex_);
  is_held_ = num_steps == 0;
  num_steps_left_ = num_steps;
  changed_.notify_all();
}

bool FakeEngine::wait_live(int num_live) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] {
    return static_cast<int>(live_.size()) == num_live;
  });
}

Request FakeEngine::last_request() const {
  const std::lock_guard lock(mutex_);
  return last_request_.value_or(Request());
}

int FakeEngine::num_submitted() const {
  const std::lock_guard lock(mutex_);
  return num_submitted_;
}

Result<void> FakeEngine::validate(Request& request) const {
  const int num_prompt_tokens = static_cast<int>(request.prompt.size());
  if (num_prompt_tokens == 0) {
    return invalid_argument("The prompt is empty.");
  }
  if (num_prompt_tokens >= max_model_len()) {
    return Error{
        ErrorCode::kInvalidArgument, "The prompt is too long.", "", "context_length_exceeded"};
  }
  for (const TokenId id : request.prompt) {
    if (id < 0 || id >= vocab_size()) {
      return invalid_argument("The prompt holds an unknown token id.");
    }
  }
  request.stop.max_tokens = std::min(request.stop.max_tokens, max_model_len() - num_prompt_tokens);
  return {};
}

SubmitOutcome FakeEngine::submit(Request request, std::shared_ptr<TokenSink> sink) {
  const std::lock_guard lock(mutex_);
  if (submit_outcome_) {
    return *submit_outcome_;
  }
  if (is_draining_ || is_stopped_) {
    return SubmitOutcome::kShuttingDown;
  }
  ++num_submitted_;
  last_request_ = request;
  Live& live = live_.emplace_back();
  live.sink = std::move(sink);
  live.error = error_;
  live.repeats = !script_;
  live.choices.resize(request.num_choices);
  for (std::size_t choice_idx = 0; choice_idx < live.choices.size(); ++choice_idx) {
    Choice& choice = live.choices[choice_idx];
    choice.reply = script_ ? script_(request, static_cast<int>(choice_idx)) : reply_;
    if (request.make_constraint) {
      choice.constraint = request.make_constraint();
    }
    if (request.stop.make_stop_matcher) {
      choice.matcher = request.stop.make_stop_matcher();
    }
  }
  live.request = std::move(request);
  changed_.notify_all();
  return SubmitOutcome::kAccepted;
}

void FakeEngine::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  for (Live& live : live_) {
    live.is_cancelled |= live.request.id == id;
  }
  changed_.notify_all();
}

void FakeEngine::begin_drain() {
  const std::lock_guard lock(mutex_);
  is_draining_ = true;
}

bool FakeEngine::is_idle() const {
  const std::lock_guard lock(mutex_);
  return live_.empty();
}

void FakeEngine::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) {
      return;
    }
    is_stopped_ = true;
    for (Live& live : live_) {
      live.is_cancelled = true;
    }
    changed_.notify_all();
  }
  thread_.join();
}

EngineStats FakeEngine::stats() const {
  const std::lock_guard lock(mutex_);
  EngineStats stats = stats_;
  stats.num_running = static_cast<int>(live_.size());
  stats.num_blocks_total = 100;
  return stats;
}

EngineFacts FakeEngine::facts() const {
  return EngineFacts{
      .weight_bytes = 3U << 30,
      .kv_cache_bytes = 1U << 30,
      .workspace_bytes = 100U << 20,
      .memory_bytes = 8ULL << 30,
      .block_size = 16,
      .kv_dtype = "bf16",
      .kv_groups =
          {{.window = 0, .num_layers = 12, .num_blocks = 64, .block_bytes = 1U << 20},
           {.window = 128, .num_layers = 12, .num_blocks = 36, .block_bytes = 1U << 20}},
      .max_model_len = max_model_len_,
      .max_num_seqs = 8,
      .max_num_batched_tokens = 512,
      .inter_token_target_ms = 400,
      .num_threads = 1,
      .kernels = "none",
      .attention = "fake"};
}

EngineSnapshot FakeEngine::snapshot(std::int64_t) const {
  const std::lock_guard lock(mutex_);
  EngineSnapshot out;
  out.step.number = stats_.num_steps;
  out.step.num_sequences = static_cast<int>(live_.size());
  out.step.max_tokens = 512;
  out.kv_groups.resize(2);
  out.kv_groups[0].cells.resize(64);
  out.kv_groups[1].cells.resize(36);
  for (const Live& live : live_) {
    SequenceSnapshot& sequence = out.running.emplace_back();
    sequence.request_id = live.request.id;
    sequence.client_id = live.request.client_id;
    sequence.phase = SequencePhase::kDecode;
    sequence.num_prompt = static_cast<int>(live.request.prompt.size());
    sequence.num_computed = sequence.num_prompt;
    sequence.num_output = live.choices.front().num_tokens;
    sequence.max_output = live.request.stop.max_tokens;
    sequence.num_blocks = 1;
    const auto owner = static_cast<int>(out.running.size());
    if (owner <= 64) {
      out.kv_groups[0].num_used = owner;
      out.kv_groups[0].cells[static_cast<std::size_t>(owner) - 1] = {owner, 1};
    }
  }
  return out;
}

void FakeEngine::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto has_cancelled = [this] { return std::ranges::any_of(live_, &Live::is_cancelled); };
    changed_.wait(lock, [&] {
      return is_stopped_ || has_cancelled() || (!live_.empty() && !is_held_);
    });
    if (is_stopped_ && live_.empty()) {
      return;
    }
    for (auto live = live_.begin(); live != live_.end();) {
      const bool may_step = live->is_cancelled || !is_held_;
      live = may_step && step(*live) ? live_.erase(live) : std::next(live);
    }
    ++stats_.num_steps;
    if (num_steps_left_ > 0 && --num_steps_left_ == 0) {
      is_held_ = true;
    }
    changed_.notify_all();
    // Lets other threads in between two steps.
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

bool FakeEngine::step(Live& live) {
  bool is_over = true;
  for (std::size_t choice_idx = 0; choice_idx < live.choices.size(); ++choice_idx) {
    Choice& choice = live.choices[choice_idx];
    if (choice.is_finished) {
      continue;
    }
    TokenEvent event = next_event(live, choice);
    event.request_id = live.request.id;
    event.choice = static_cast<int>(choice_idx);
    choice.is_finished = event.finish.has_value();
    is_over = is_over && choice.is_finished;
    live.sink->on_event(event);
  }
  return is_over;
}

TokenEvent FakeEngine::next_event(const Live& live, Choice& choice) const {
  TokenEvent event;
  const StopRules& stop = live.request.stop;
  if (live.is_cancelled) {
    event.finish = FinishInfo{.reason = FinishReason::kAbort};
    return event;
  }
  if (!live.error.empty()) {
    event.finish = FinishInfo{.reason = FinishReason::kError, .error = live.error};
    return event;
  }
  if (live.repeats && choice.reply_pos == choice.reply.size()) {
    choice.reply_pos = 0;
  }
  if (choice.num_tokens >= stop.max_tokens || choice.reply_pos == choice.reply.size()) {
    event.finish = FinishInfo{.reason = FinishReason::kLength};
    return event;
  }
  const TokenId token = next_token(choice);
  ++choice.num_tokens;
  event.token = token;
  if (live.request.sampling.num_logprobs) {
    event.logprob = TokenLogprob{token, -0.1F, 1};
    for (int rank = 1; rank <= *live.request.sampling.num_logprobs; ++rank) {
      event.top_logprobs.push_back({token + rank - 1, -0.1F * static_cast<float>(rank), rank});
    }
  }
  const std::optional<int> stop_string =
      choice.matcher ? choice.matcher->accept(token) : std::nullopt;
  const bool is_end = !stop.ignore_eos && contains(stop.eos_token_ids, token);
  if (is_end || contains(stop.stop_token_ids, token)) {
    event.finish = FinishInfo{.reason = FinishReason::kStop, .stop_token = token};
  } else if (stop_string) {
    event.finish = FinishInfo{.reason = FinishReason::kStop, .stop_string = stop_string};
  } else if (choice.num_tokens >= stop.max_tokens) {
    event.finish = FinishInfo{.reason = FinishReason::kLength};
  }
  return event;
}

TokenId FakeEngine::next_token(Choice& choice) const {
  const TokenId wanted = choice.reply[choice.reply_pos];
  if (choice.constraint == nullptr) {
    ++choice.reply_pos;
    return wanted;
  }
  constexpr int kWordBits = 32;
  const auto num_words = static_cast<std::size_t>(vocab_size_ / kWordBits + 1);
  std::vector<std::uint32_t> mask(num_words, ~0U);
  choice.constraint->fill_mask(mask);
  const auto is_allowed = [&mask](TokenId id) {
    return (mask[static_cast<std::size_t>(id / kWordBits)] >> (id % kWordBits) & 1U) != 0;
  };
  TokenId token = wanted;
  if (is_allowed(wanted)) {
    ++choice.reply_pos;
  } else {
    for (token = 0; token + 1 < vocab_size_ && !is_allowed(token);) {
      ++token;
    }
  }
  choice.constraint->accept(token);
  return token;
}

}  // namespace rapt
