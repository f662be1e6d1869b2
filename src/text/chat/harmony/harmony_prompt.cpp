#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "text/chat/harmony/harmony_prompt_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kDefaultIdentity =
    "You are ChatGPT, a large language model trained by OpenAI.";
constexpr std::string_view kKnowledgeCutoff = "2024-06";
constexpr std::string_view kValidChannels =
    "# Valid channels: analysis, commentary, final. Channel must be included for every message.";
constexpr std::array<std::string_view, 3> kEfforts = {"low", "medium", "high"};

bool is_date(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-dd";
  return std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(), [](char c, char shape) {
    return shape == 'd' ? c >= '0' && c <= '9' : c == shape;
  });
}

Result<void> check_options(const ChatOptions& options) {
  if (std::find(kEfforts.begin(), kEfforts.end(), options.reasoning_effort) == kEfforts.end()) {
    return invalid_argument(
        "reasoning_effort is '" + options.reasoning_effort + "'; use low, medium or high",
        "reasoning_effort"
    );
  }
  if (options.conversation_date && !is_date(*options.conversation_date)) {
    return invalid_argument(
        "conversation_date is '" + *options.conversation_date + "'; write it as YYYY-MM-DD",
        "conversation_date"
    );
  }
  return {};
}

HarmonyMessage system_message(const ChatOptions& options) {
  std::string text = options.model_identity.value_or(std::string(kDefaultIdentity));
  text += "\nKnowledge cutoff: ";
  text += kKnowledgeCutoff;
  if (options.conversation_date) {
    text += "\nCurrent date: " + *options.conversation_date;
  }
  text += "\n\nReasoning: " + options.reasoning_effort;
  text += "\n\n";
  text += kValidChannels;
  HarmonyMessage message;
  message.role = HarmonyRole::kSystem;
  message.parts.push_back(std::move(text));
  return message;
}

HarmonyMessage assistant_message(std::string_view channel, std::string text) {
  HarmonyMessage message;
  message.role = HarmonyRole::kAssistant;
  message.channel = std::string(channel);
  message.parts.push_back(std::move(text));
  return message;
}

Result<void> append_converted(const ChatMessage& message, HarmonyConversation& out) {
  switch (message.role) {
    case ChatRole::kSystem:
    case ChatRole::kDeveloper:
      if (!message.content.empty()) {
        HarmonyMessage developer;
        developer.role = HarmonyRole::kDeveloper;
        developer.parts.push_back("# Instructions\n\n" + message.content);
        out.push_back(std::move(developer));
      }
      return {};
    case ChatRole::kUser: {
      HarmonyMessage user;
      user.role = HarmonyRole::kUser;
      user.name = message.name;
      user.parts.push_back(message.content);
      out.push_back(std::move(user));
      return {};
    }
    case ChatRole::kAssistant:
      // No name here: a prompt ends with a nameless assistant's header, and history like
      // "assistant:anna" would teach the model to go on with ":anna".
      if (message.reasoning && !message.reasoning->empty()) {
        out.push_back(assistant_message(kHarmonyAnalysis, *message.reasoning));
      }
      if (!message.content.empty()) {
        out.push_back(assistant_message(kHarmonyFinal, message.content));
      }
      return {};
    case ChatRole::kTool:
      return invalid_argument(
          "messages with the role 'tool' are not supported yet; use system, developer, user and "
          "assistant",
          "messages"
      );
  }
  return {};
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
  RETURN_IF_ERROR(check_options(options));
  HarmonyConversation conversation;
  conversation.push_back(system_message(options));
  for (const ChatMessage& message : messages) {
    RETURN_IF_ERROR(append_converted(message, conversation));
  }
  drop_used_reasoning(conversation);
  return conversation;
}

}  // namespace rapt
