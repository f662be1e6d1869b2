#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/api/openai/generation_params_internal.h"
#include "text/chat/chat_message.h"

namespace rapt::openai {

// The body of POST /v1/chat/completions, typed. No JSON beyond this point.
struct ChatCompletionRequest {
  GenerationParams params;
  std::vector<ChatMessage> messages;
  ChatOptions options;                   // conversation_date only when the caller set one
  std::vector<std::size_t> tool_places;  // where each of the options' tools stands in `tools`
  bool include_reasoning = true;
  std::vector<std::string> ignored_fields;
};

// `defaults` are for what the body does not say about sampling. An error names the field at fault
// in `param`.
Result<ChatCompletionRequest> parse_chat_request(
    const json::value& body, const SamplingParams& defaults = {}
);

// One element of `messages`; `path` is "messages[3].".
Result<ChatMessage> parse_chat_message(const json::value& item, const std::string& path);

}  // namespace rapt::openai
