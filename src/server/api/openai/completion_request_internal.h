#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/api/openai/generation_params_internal.h"

namespace rapt::openai {

constexpr std::size_t kMaxPrompts = 1024;
// Of all prompts together.
constexpr std::size_t kMaxCallChoices = 4096;

// A prompt as text or as token ids.
using Prompt = std::variant<std::string, std::vector<TokenId>>;

// The body of POST /v1/completions, typed.
struct CompletionRequest {
  GenerationParams params;
  std::vector<Prompt> prompts;  // at least one; choices are numbered prompt after prompt
  bool echo = false;            // the answer's text begins with the prompt
  std::vector<std::string> ignored_fields;
};

// `defaults` are for what the body does not say about sampling. An error names the field at fault
// in `param`.
Result<CompletionRequest> parse_completion_request(
    const json::value& body, const SamplingParams& defaults = {}
);

}  // namespace rapt::openai
