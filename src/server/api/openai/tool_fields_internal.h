#pragma once

#include <vector>

#include "server/api/openai/chat_request_internal.h"
#include "server/api/openai/field_reader_internal.h"

namespace rapt::openai {

// What a chat request says about tools: `tools`, `tool_choice`, `parallel_tool_calls`. Tools that
// are no functions ("custom", "web_search") are left out and counted as ignored fields, since
// agents send theirs to every server. Refuses the old `functions` and `function_call`.
void read_tool_fields(FieldReader& fields, ChatCompletionRequest& request);

// An assistant message's `tool_calls`.
std::vector<ToolCall> read_tool_calls(FieldReader& fields);

}  // namespace rapt::openai
