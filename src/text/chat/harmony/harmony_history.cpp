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
  first_of_turn_ = call_names_.size();
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
    add_call(call);
  }
  return {};
}

Result<void> HarmonyHistory::append_result(const ChatMessage& message, std::size_t message_idx) {
  const std::optional<std::size_t> call_idx = find_call(message);
  if (!call_idx) {
    const std::string field = field_of(message_idx, "tool_call_id");
    return invalid_argument(
        message.tool_call_id.empty()
            ? field + " is missing, and no call before this message waits for a result"
            : field + " is '" + message.tool_call_id +
                  "', which is the id of no tool call in an assistant message before it",
        field
    );
  }
  is_answered_[*call_idx] = true;
  HarmonyMessage result;
  result.role = HarmonyRole::kTool;
  result.name = std::string(kFunctionsPrefix) + names_.in_prompt(call_names_[*call_idx]);
  result.recipient = "assistant";
  result.channel = std::string(kHarmonyCommentary);
  result.parts.push_back(message.content);
  out_.push_back(std::move(result));
  return {};
}

void HarmonyHistory::add_call(const ToolCall& call) {
  const std::size_t call_idx = call_names_.size();
  call_names_.push_back(call.name);
  is_answered_.push_back(false);
  all_.calls.push_back(call_idx);
  by_id_[call.id].calls.push_back(call_idx);
  by_name_[call.name].calls.push_back(call_idx);
}

// By its id: the first open call of this turn, or else the newest of any, since some clients count
// their ids anew in every turn. Calls that came without ids cannot be told apart by one.
std::optional<std::size_t> HarmonyHistory::find_call(const ChatMessage& result) {
  if (result.tool_call_id.empty()) {
    return next_open(result.name.empty() ? all_ : by_name_[result.name]);
  }
  const auto known = by_id_.find(result.tool_call_id);
  if (known == by_id_.end()) {
    return next_open(by_id_[""]);
  }
  CallQueue& queue = known->second;
  const std::optional<std::size_t> open = next_open(queue);
  return open ? open : queue.calls.back();
}

std::optional<std::size_t> HarmonyHistory::next_open(CallQueue& queue) const {
  const auto is_closed = [this](std::size_t call_idx) {
    return call_idx < first_of_turn_ || is_answered_[call_idx];
  };
  while (queue.next < queue.calls.size() && is_closed(queue.calls[queue.next])) {
    ++queue.next;
  }
  return queue.next < queue.calls.size() ? std::optional(queue.calls[queue.next]) : std::nullopt;
}

}  // namespace rapt
