#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/api/api_context_internal.h"
#include "server/api/openai/chat_request_internal.h"

namespace rapt::openai {

// A chat request and the prompt that its conversation becomes.
struct ChatPrompt {
  ChatCompletionRequest chat;  // with the served model's name and the conversation's date filled in
  std::vector<TokenId> ids;
};

// Reads a chat request and renders its prompt. Counts the fields that are ignored.
Result<ChatPrompt> make_chat_prompt(ApiContext& context, const json::value& body);

}  // namespace rapt::openai
