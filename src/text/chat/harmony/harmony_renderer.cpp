#include <string>

#include "text/chat/harmony/harmony_renderer_internal.h"

namespace rapt {

HarmonyRenderer::HarmonyRenderer(const Tokenizer& tokenizer, HarmonyTokens tokens)
    : tokenizer_(tokenizer), tokens_(tokens) {}

Result<std::vector<TokenId>> HarmonyRenderer::render(std::span<const HarmonyMessage> conversation
) const {
  std::vector<TokenId> ids;
  for (const HarmonyMessage& message : conversation) {
    RETURN_IF_ERROR(append_message(message, ids));
  }
  return ids;
}

Result<std::vector<TokenId>> HarmonyRenderer::render_for_completion(
    std::span<const HarmonyMessage> conversation, HarmonyRole next
) const {
  ASSIGN_OR_RETURN(std::vector<TokenId> ids, render(conversation));
  ids.push_back(tokens_.start);
  append_text(harmony_role_name(next), ids);
  return ids;
}

Result<std::vector<TokenId>> HarmonyRenderer::render_for_training(
    std::span<const HarmonyMessage> conversation
) const {
  ASSIGN_OR_RETURN(std::vector<TokenId> ids, render(conversation));
  if (!conversation.empty() && conversation.back().role == HarmonyRole::kAssistant &&
      conversation.back().channel == kHarmonyFinal) {
    ids.back() = tokens_.end_of_turn;
  }
  return ids;
}

Result<void> HarmonyRenderer::append_message(
    const HarmonyMessage& message, std::vector<TokenId>& out
) const {
  out.push_back(tokens_.start);
  if (message.role == HarmonyRole::kTool) {
    if (message.name.empty() && !message.has_empty_name) {
      return invalid_argument("a tool message must name the tool it comes from");
    }
    append_text(message.name, out);
  } else {
    append_text(harmony_role_name(message.role), out);
    if (!message.name.empty() || message.has_empty_name) {
      append_text(":" + message.name, out);
    }
  }
  if (message.recipient && *message.recipient != "all") {
    append_text(" to=" + *message.recipient, out);
  }
  if (message.channel) {
    out.push_back(tokens_.channel);
    append_text(*message.channel, out);
  }
  if (message.content_type) {
    const std::string_view content_type = *message.content_type;
    if (content_type.starts_with(kHarmonyConstrainText)) {
      append_text(" ", out);
      out.push_back(tokens_.constrain);
      append_text(content_type.substr(kHarmonyConstrainText.size()), out);
    } else {
      append_text(" " + *message.content_type, out);
    }
  }
  out.push_back(tokens_.message);
  for (const std::string& part : message.parts) {
    append_text(part, out);
  }
  const bool is_call = message.role == HarmonyRole::kAssistant && message.recipient.has_value();
  out.push_back(is_call ? tokens_.call : tokens_.end);
  return {};
}

void HarmonyRenderer::append_text(std::string_view text, std::vector<TokenId>& out) const {
  const std::vector<TokenId> ids = tokenizer_.encode(text);
  out.insert(out.end(), ids.begin(), ids.end());
}

}  // namespace rapt
