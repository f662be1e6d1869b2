#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "text/chat/harmony/harmony_content_internal.h"
#include "text/chat/harmony/harmony_history_internal.h"
#include "text/chat/harmony/harmony_prompt_internal.h"
#include "text/chat/harmony/harmony_tool_names_internal.h"

namespace rapt {

namespace {

bool is_date(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-dd";
  return std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(), [](char c, char shape) {
    return shape == 'd' ? c >= '0' && c <= '9' : c == shape;
  });
}

// The model knows three efforts; APIs have two more below them.
std::optional<HarmonyEffort> effort_called(std::string_view name) {
  if (name == "none" || name == "minimal") {
    return HarmonyEffort::kLow;
  }
  return harmony_effort_called(name);
}

Result<HarmonyMessage> system_message(const ChatOptions& options, bool has_functions) {
  HarmonySystemContent content = HarmonySystemContent::standard();
  content.effort = effort_called(options.reasoning_effort);
  if (!content.effort) {
    return invalid_argument(
        "reasoning_effort is '" + options.reasoning_effort +
            "'; use none, minimal, low, medium or high",
        "reasoning_effort"
    );
  }
  if (options.conversation_date && !is_date(*options.conversation_date)) {
    return invalid_argument(
        "conversation_date is '" + *options.conversation_date + "'; write it as YYYY-MM-DD",
        "conversation_date"
    );
  }
  content.conversation_date = options.conversation_date;
  if (options.model_identity) {
    content.model_identity = options.model_identity;
  }
  HarmonyMessage message;
  message.role = HarmonyRole::kSystem;
  message.parts.push_back(harmony_system_text(content, has_functions));
  return message;
}

HarmonyTools declared_tools(const ChatOptions& options, const HarmonyToolNames& names) {
  HarmonyTools tools;
  if (names.empty()) {
    return tools;
  }
  HarmonyNamespace& functions = tools[std::string(kHarmonyFunctions)];
  functions.name = kHarmonyFunctions;
  for (const ToolDeclaration& tool : options.tools) {
    HarmonyFunction function;
    function.name = names.in_prompt(tool.name);
    function.description = tool.description.value_or("");
    if (tool.parameters && !tool.parameters->is_null()) {
      function.parameters = tool.parameters;
    }
    functions.functions.push_back(std::move(function));
  }
  return tools;
}

bool is_instruction(const ChatMessage& message) {
  return message.role == ChatRole::kSystem || message.role == ChatRole::kDeveloper;
}

void append_developer(
    const std::string& instructions, HarmonyTools tools, HarmonyConversation& out
) {
  HarmonyDeveloperContent content;
  if (!instructions.empty()) {
    content.instructions = instructions;
  }
  content.tools = std::move(tools);
  std::string text = harmony_developer_text(content);
  if (!text.empty()) {
    HarmonyMessage message;
    message.role = HarmonyRole::kDeveloper;
    message.parts.push_back(std::move(text));
    out.push_back(std::move(message));
  }
}

void drop_used_reasoning(HarmonyConversation& conversation) {
  const auto last_final =
      std::find_if(conversation.rbegin(), conversation.rend(), [](const HarmonyMessage& message) {
        return message.channel == kHarmonyFinal;
      });
  const auto end_of_used = last_final.base();
  const auto kept =
      std::remove_if(conversation.begin(), end_of_used, [](const HarmonyMessage& message) {
        return message.channel == kHarmonyAnalysis;
      });
  conversation.erase(kept, end_of_used);
}

}  // namespace

Result<HarmonyConversation> to_harmony_conversation(
    std::span<const ChatMessage> messages, const ChatOptions& options
) {
  RETURN_IF_ERROR(check_harmony_tools(options));
  if (messages.empty()) {
    return invalid_argument("messages is empty; send at least one message", "messages");
  }
  const HarmonyToolNames names(options);
  ASSIGN_OR_RETURN(HarmonyMessage system, system_message(options, !names.empty()));
  HarmonyConversation conversation;
  conversation.push_back(std::move(system));
  const bool begins_with_instructions = is_instruction(messages[0]);
  append_developer(
      begins_with_instructions ? messages[0].content : std::string(),
      declared_tools(options, names),
      conversation
  );
  HarmonyHistory history(names, conversation);
  for (std::size_t i = begins_with_instructions ? 1 : 0; i < messages.size(); ++i) {
    if (is_instruction(messages[i])) {
      append_developer(messages[i].content, {}, conversation);
    } else {
      RETURN_IF_ERROR(history.append(messages[i], i));
    }
  }
  drop_used_reasoning(conversation);
  return conversation;
}

}  // namespace rapt
