#include <algorithm>
#include <utility>

#include "text/chat/harmony/harmony_history_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kFunctionsPrefix = "functions.";

HarmonyMessage assistant_message(std::string_view channel, std::string text) {
  HarmonyMessage message;
  message.role = HarmonyRole::kAssistant;
  message.channel = std::string(channel);
  message.parts.push_back(std::move(text));
  return message;
}

std::string field_of(std::size_t message_idx, std::string_view field) {
  return "messages[" + std::to_string(message_idx) + "]." + std::string(field);
}

}  // namespace

Result<void> HarmonyHistory::append(const ChatMessage& message, std::size_t message_idx) {
  if (message.role == ChatRole::kTool) {
    return append_result(message, message_idx);
  }
  if (message.role == ChatRole::kAssistant) {
    return append_assistant(message, message_idx);
  }
  // What the turns before left unanswered waits no longer.
  for (OpenCall& call : calls_) {
    call.is_answered = true;
  }
  HarmonyMessage user;
  user.role = HarmonyRole::kUser;
  user.name = message.name;
  user.parts.push_back(message.content);
  out_.push_back(std::move(user));
  return {};
}

// No names here: a prompt ends with a nameless assistant's header, and history like
// "assistant:anna" would teach the model to go on with ":anna".
Result<void> HarmonyHistory::append_assistant(const ChatMessage& message, std::size_t message_idx) {
  const bool has_calls = !message.tool_calls.empty();
  if (has_calls && !message.content.empty()) {
    out_.push_back(assistant_message(kHarmonyCommentary, message.content));
  }
  if (message.reasoning && !message.reasoning->empty()) {
    out_.push_back(assistant_message(kHarmonyAnalysis, *message.reasoning));
  }
  if (!has_calls && !message.content.empty()) {
    out_.push_back(assistant_message(kHarmonyFinal, message.content));
  }
  for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
    const ToolCall& call = message.tool_calls[i];
    if (call.name.empty()) {
      const std::string field =
          field_of(message_idx, "tool_calls[" + std::to_string(i) + "].function.name");
      return invalid_argument(field + " is empty; a call names the function it calls", field);
    }
    HarmonyMessage called = assistant_message(kHarmonyCommentary, call.arguments);
    called.recipient = std::string(kFunctionsPrefix) + names_.in_prompt(call.name);
    called.content_type = "json";
    out_.push_back(std::move(called));
    calls_.push_back({call.id, call.name});
  }
  return {};
}

Result<void> HarmonyHistory::append_result(const ChatMessage& message, std::size_t message_idx) {
  OpenCall* call = find_call(message);
  if (call == nullptr) {
    const std::string field = field_of(message_idx, "tool_call_id");
    return invalid_argument(
        message.tool_call_id.empty()
            ? field + " is missing, and no call before this message waits for a result"
            : field + " is '" + message.tool_call_id +
                  "', which is the id of no tool call in an assistant message before it",
        field
    );
  }
  call->is_answered = true;
  HarmonyMessage result;
  result.role = HarmonyRole::kTool;
  result.name = std::string(kFunctionsPrefix) + names_.in_prompt(call->name);
  result.recipient = "assistant";
  result.channel = std::string(kHarmonyCommentary);
  result.parts.push_back(message.content);
  out_.push_back(std::move(result));
  return {};
}

// The newest call with the result's id, since some clients count their ids anew in every turn; of
// several in one turn the first that is open.
HarmonyHistory::OpenCall* HarmonyHistory::find_call(const ChatMessage& result) {
  const auto first_open = [this](const auto& is_meant) -> OpenCall* {
    const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const OpenCall& call) {
      return !call.is_answered && is_meant(call);
    });
    return found == calls_.end() ? nullptr : &*found;
  };
  if (result.tool_call_id.empty()) {
    return first_open([&result](const OpenCall& call) {
      return result.name.empty() || call.name == result.name;
    });
  }
  const auto has_id = [&result](const OpenCall& call) { return call.id == result.tool_call_id; };
  if (OpenCall* call = first_open(has_id)) {
    return call;
  }
  const auto newest = std::find_if(calls_.rbegin(), calls_.rend(), has_id);
  if (newest != calls_.rend()) {
    return &*newest;
  }
  // Calls that came without ids cannot be told apart by one.
  return first_open([](const OpenCall& call) { return call.id.empty(); });
}

}  // namespace rapt
