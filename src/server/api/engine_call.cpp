#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "engine/engine.h"
#include "server/api/engine_call_internal.h"
#include "server/errors_internal.h"
#include "server/ops/metrics_internal.h"

namespace rapt {

namespace {

// With so much not yet taken by the client, new text is held back.
constexpr std::size_t kMaxBufferedBytes = 256U << 10;

double seconds_between(
    std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end
) {
  return std::chrono::duration<double>(end - begin).count();
}

Error submit_error(SubmitOutcome outcome) {
  switch (outcome) {
    case SubmitOutcome::kQueueFull:
      return Error{
          ErrorCode::kResourceExhausted, "Too many requests are waiting. Try again in a moment."};
    case SubmitOutcome::kShuttingDown:
      return Error{ErrorCode::kUnavailable, "The server is shutting down."};
    case SubmitOutcome::kUnhealthy:
      return Error{ErrorCode::kUnavailable, "The engine has failed; the server must be restarted."};
    case SubmitOutcome::kAccepted:
      break;
  }
  return internal_error("The engine gave no reason.");
}

}  // namespace

EngineCall::EngineCall(
    CallPlan plan,
    Engine& engine,
    ServerMetrics& metrics,
    CallRegistry& registry,
    std::shared_ptr<Responder> responder
)
    : plan_(std::move(plan)),
      engine_(engine),
      metrics_(metrics),
      registry_(registry),
      responder_(std::move(responder)),
      pieces_(plan_.decoders.size()),
      last_token_(plan_.decoders.size()),
      has_token_(plan_.requests.size()),
      num_unfinished_(static_cast<int>(plan_.decoders.size())) {
  for (std::size_t request_idx = 0; request_idx < plan_.requests.size(); ++request_idx) {
    const Request& request = plan_.requests[request_idx];
    request_idx_[request.id] = static_cast<int>(request_idx);
    usage_.num_prompt_tokens += static_cast<int>(request.prompt.size());
  }
}

void EngineCall::start() {
  const std::shared_ptr<EngineCall> self = shared_from_this();
  registry_.add(self);
  // The mailbox keeps the call alive until leave() closes it.
  mailbox_ =
      std::make_shared<EventMailbox>([self] { self->responder_->post([self] { self->drain(); }); });
  responder_->on_disconnect([self] { self->client_gone(); });
  if (submit_all() && plan_.stream) {
    responder_->begin_event_stream(plan_.keep_alive);
  }
}

bool EngineCall::submit_all() {
  for (Request& request : plan_.requests) {
    const RequestId id = request.id;
    const SubmitOutcome outcome = engine_.submit(std::move(request), mailbox_);
    if (outcome != SubmitOutcome::kAccepted) {
      request_idx_.erase(id);
      const Error error = submit_error(outcome);
      metrics_.count_rejection(outcome == SubmitOutcome::kQueueFull ? "queue_full" : "unavailable");
      cancel_all();
      leave();
      responder_->send(error_reply(error));
      return false;
    }
  }
  return true;
}

void EngineCall::drain() {
  if (is_over_ || is_waiting_for_client_) {
    return;
  }
  if (responder_->num_buffered_bytes() > kMaxBufferedBytes) {
    is_waiting_for_client_ = true;
    responder_->on_drained([self = shared_from_this()] {
      self->is_waiting_for_client_ = false;
      self->drain();
    });
    return;
  }
  mailbox_->take(events_);
  for (const TokenEvent& event : events_) {
    take_event(event);
  }
  if (failure_) {
    fail(*failure_);
    return;
  }
  if (plan_.stream) {
    write_pieces();
  }
  if (num_unfinished_ == 0) {
    complete();
  }
}

void EngineCall::take_event(const TokenEvent& event) {
  const auto found = request_idx_.find(event.request_id);
  CHECK(found != request_idx_.end(), "an event of foreign request ", event.request_id);
  CHECK(event.choice >= 0 && event.choice < plan_.num_choices, "choice ", event.choice);
  const int choice_idx = found->second * plan_.num_choices + event.choice;
  ChoicePiece& piece = pieces_[choice_idx];
  const int num_reasoning_before = piece.num_reasoning_tokens;
  plan_.decoders[choice_idx]->push(event, piece);
  if (event.token) {
    ++usage_.num_completion_tokens;
    usage_.num_reasoning_tokens += piece.num_reasoning_tokens - num_reasoning_before;
    note_token_time(found->second, choice_idx);
  }
  if (!event.finish) {
    return;
  }
  --num_unfinished_;
  if (event.finish->reason == FinishReason::kError) {
    failure_ = internal_error(event.finish->error);
  } else if (event.finish->reason == FinishReason::kAbort) {
    failure_ = Error{ErrorCode::kUnavailable, "The server stopped working on this request."};
  }
}

void EngineCall::note_token_time(int request_idx, int choice_idx) {
  const Clock::time_point now = Clock::now();
  if (last_token_[choice_idx]) {
    metrics_.observe_later_token(seconds_between(*last_token_[choice_idx], now));
  } else if (!has_token_[request_idx]) {
    has_token_[request_idx] = true;
    metrics_.observe_first_token(seconds_between(plan_.arrival, now));
  }
  last_token_[choice_idx] = now;
}

void EngineCall::write_pieces() {
  std::string out;
  for (std::size_t choice_idx = 0; choice_idx < pieces_.size(); ++choice_idx) {
    ChoicePiece& piece = pieces_[choice_idx];
    if (!piece.empty()) {
      plan_.writer->stream_piece(out, static_cast<int>(choice_idx), piece, usage_);
      piece = ChoicePiece();
    }
  }
  responder_->write(out);
}

void EngineCall::complete() {
  metrics_.observe_end(
      seconds_between(plan_.arrival, Clock::now()),
      usage_.num_prompt_tokens,
      usage_.num_completion_tokens
  );
  LOG_INFO(
      "request finished",
      kv("id", plan_.client_id),
      kv("request_id", plan_.request_id),
      kv("prompt_tokens", usage_.num_prompt_tokens),
      kv("completion_tokens", usage_.num_completion_tokens),
      kv("seconds", seconds_between(plan_.arrival, Clock::now()))
  );
  leave();
  if (plan_.stream) {
    std::string out;
    plan_.writer->stream_end(out, usage_);
    responder_->write(out);
    responder_->end_stream();
  } else {
    HttpReply reply;
    reply.body = plan_.writer->whole(pieces_, usage_);
    responder_->send(std::move(reply));
  }
}

void EngineCall::client_gone() {
  if (is_over_) {
    return;
  }
  metrics_.count_disconnect();
  LOG_INFO(
      "client left",
      kv("id", plan_.client_id),
      kv("request_id", plan_.request_id),
      kv("completion_tokens", usage_.num_completion_tokens)
  );
  cancel_all();
  leave();
}

void EngineCall::fail(const Error& error) {
  if (is_over_) {
    return;
  }
  metrics_.count_failure(error.code == ErrorCode::kUnavailable ? "unavailable" : "engine");
  LOG_WARNING(
      "request failed",
      kv("id", plan_.client_id),
      kv("request_id", plan_.request_id),
      kv("cause", error.message)
  );
  cancel_all();
  leave();
  if (plan_.stream) {
    std::string out;
    plan_.writer->stream_error(out, error);
    responder_->write(out);
    responder_->end_stream();
  } else {
    responder_->send(error_reply(error));
  }
}

void EngineCall::fail_soon(const Error& error) {
  responder_->post([self = shared_from_this(), error] { self->fail(error); });
}

void EngineCall::abandon() {
  mailbox_->close();
}

void EngineCall::cancel_all() {
  for (const auto& [id, request_idx] : request_idx_) {
    engine_.cancel(id);
  }
}

void EngineCall::leave() {
  is_over_ = true;
  mailbox_->close();
  for (const std::unique_ptr<ChoiceDecoder>& decoder : plan_.decoders) {
    metrics_.count_repairs(decoder->repairs());
    metrics_.count_tool_calls(decoder->num_tool_calls());
  }
  registry_.remove(this);
}

// ---- the registry ----

void CallRegistry::add(const std::shared_ptr<EngineCall>& call) {
  const std::lock_guard lock(mutex_);
  calls_.emplace(call.get(), call);
}

void CallRegistry::remove(const EngineCall* call) {
  std::shared_ptr<EngineCall> last;
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  if (found != calls_.end()) {
    last = std::move(found->second);
    calls_.erase(found);
  }
}

std::vector<std::shared_ptr<EngineCall>> CallRegistry::all() const {
  std::vector<std::shared_ptr<EngineCall>> calls;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, call] : calls_) {
    calls.push_back(call);
  }
  return calls;
}

void CallRegistry::fail_all(const Error& error) {
  for (const std::shared_ptr<EngineCall>& call : all()) {
    call->fail_soon(error);
  }
}

void CallRegistry::abandon_all() {
  for (const std::shared_ptr<EngineCall>& call : all()) {
    call->abandon();
    remove(call.get());
  }
}

int CallRegistry::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(calls_.size());
}

}  // namespace rapt
