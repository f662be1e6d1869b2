#include "app/generate.h"

#include <chrono>
#include <climits>
#include <cstdio>

#include "app/event_queue.h"
#include "base/log.h"

namespace rapt {

namespace {

using Clock = std::chrono::steady_clock;

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t interrupt_flag = 0;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::string Generation::summary() const {
  char text[128];
  const std::size_t num_after = tokens.empty() ? 0 : tokens.size() - 1;
  std::snprintf(
      text,
      sizeof(text),
      "%zu tokens, %.2f s to the first, %.1f tokens/s, temperature %g",
      tokens.size(),
      seconds_to_first_token,
      seconds_after_first_token > 0.0 ? static_cast<double>(num_after) / seconds_after_first_token
                                      : 0.0,
      static_cast<double>(temperature)
  );
  return text;
}

Request make_request(
    const LoadedModel& model, std::vector<TokenId> prompt, const SamplingOptions& sampling
) {
  Request request;
  request.id = 1;
  request.client_id = "command";
  request.prompt = std::move(prompt);
  request.sampling = model.sampling(sampling);
  request.sampling.seed = sampling.seed ? *sampling.seed : random_seed();
  request.stop.max_tokens = sampling.max_tokens > 0 ? sampling.max_tokens : INT_MAX;
  request.stop.eos_token_ids = model.eos_token_ids();
  return request;
}

ChatOptions make_chat_options(const PromptOptions& prompt, const ChatFormat& format) {
  ChatOptions made;
  made.conversation_date = resolve_date(prompt.conversation_date);
  if (prompt.reasoning_effort) {
    made.reasoning_effort = *prompt.reasoning_effort;
    made.template_kwargs.emplace("reasoning_effort", *prompt.reasoning_effort);
    if (!format.has_reasoning_effort()) {
      LOG_WARNING("the model's chat format has no reasoning effort: --reasoning-effort does nothing"
      );
    }
  }
  return made;
}

Result<Generation> generate(
    LoadedModel& model,
    Request request,
    const std::function<void(TokenId)>& on_token,
    const volatile std::sig_atomic_t& interrupted
) {
  RETURN_IF_ERROR(model.engine->validate(request));
  const RequestId id = request.id;
  Generation generation;
  generation.temperature = request.sampling.temperature;
  const auto events = std::make_shared<EventQueue>();
  const Clock::time_point start = Clock::now();
  Clock::time_point first = start;
  Clock::time_point last = start;
  if (model.engine->submit(std::move(request), events) != SubmitOutcome::kAccepted) {
    return internal_error("the engine takes no requests");
  }
  bool is_cancelled = false;
  while (true) {
    if (interrupted != 0 && !is_cancelled) {
      model.engine->cancel(id);
      is_cancelled = true;
    }
    const auto event = events->pop(std::chrono::milliseconds(50));
    if (!event) {
      continue;
    }
    if (event->token) {
      last = Clock::now();
      if (generation.tokens.empty()) {
        first = last;
      }
      generation.tokens.push_back(*event->token);
      on_token(*event->token);
    }
    if (event->finish) {
      if (event->finish->reason == FinishReason::kError) {
        return internal_error(event->finish->error);
      }
      generation.finish = event->finish->reason;
      generation.seconds_to_first_token = seconds_between(start, first);
      generation.seconds_after_first_token = seconds_between(first, last);
      return generation;
    }
  }
}

volatile std::sig_atomic_t& catch_interrupt() {
  interrupt_flag = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_flag = 1; };
  sigaction(SIGINT, &action, nullptr);
  return interrupt_flag;
}

}  // namespace rapt
