#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "app/flags.h"
#include "app/loaded_model.h"
#include "base/result.h"
#include "request/request.h"

namespace rapt {

// What came of one generation at the terminal.
struct Generation {
  std::vector<TokenId> tokens;
  FinishReason finish = FinishReason::kStop;
  double seconds_to_first_token = 0.0;
  double seconds_after_first_token = 0.0;
  float temperature = 1.0F;  // at which they were drawn

  // "23 tokens, 0.41 s to the first, 12.3 tokens/s, temperature 0.2"
  std::string summary() const;
};

// A request for one choice from command-line options; the ends of a turn are the model's.
Request make_request(
    const LoadedModel& model, std::vector<TokenId> prompt, const SamplingOptions& sampling
);

// How a conversation is written, from command-line options. Says so where `format` has no use for
// one of them.
ChatOptions make_chat_options(const PromptOptions& prompt, const ChatFormat& format);

// Runs `request` on the started engine and calls `on_token` for each token as it comes. When
// `interrupted` turns non-zero, the request is cancelled and what came so far is returned.
Result<Generation> generate(
    LoadedModel& model,
    Request request,
    const std::function<void(TokenId)>& on_token,
    const volatile std::sig_atomic_t& interrupted
);

// Makes Ctrl-C set the returned flag from now on.
volatile std::sig_atomic_t& catch_interrupt();

}  // namespace rapt
