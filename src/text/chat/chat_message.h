#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/chat/chat_tools.h"

namespace rapt {

enum class ChatRole { kSystem, kDeveloper, kUser, kAssistant, kTool };

// One message of a conversation as an API client sends it, before any chat format.
struct ChatMessage {
  ChatRole role = ChatRole::kUser;
  std::string content = {};                   // text parts joined
  std::string name = {};                      // "" when absent
  std::optional<std::string> reasoning = {};  // assistant: its thinking, sent back by the client
  std::vector<ToolCall> tool_calls = {};      // assistant: in the order it made them
  std::string tool_call_id = {};              // tool: the call that `content` answers
};

// What a whole conversation needs beside its messages.
struct ChatOptions {
  std::string reasoning_effort = "medium";  // low, medium, high; none and minimal count as low
  std::optional<std::string> conversation_date = {};  // YYYY-MM-DD; absent: no date line
  std::optional<std::string> model_identity = {};     // absent: the format's default
  std::vector<ToolDeclaration> tools = {};
  ToolChoice tool_choice = {};
  // For formats that are templates; the others take no notice.
  std::optional<json::value> documents = {};  // a list of objects with a title and a text
  json::object template_kwargs = {};          // variables of the client's
};

}  // namespace rapt
