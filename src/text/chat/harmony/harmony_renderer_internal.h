#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat/harmony/harmony_message_internal.h"

namespace rapt {

// Harmony messages to token ids, the same ids as OpenAI's renderer. Each text is tokenized by
// itself and with control tokens off: they come from here and from nowhere else.
class HarmonyRenderer {
 public:
  // `tokenizer` must outlive this.
  HarmonyRenderer(const Tokenizer& tokenizer, HarmonyTokens tokens);

  // The messages and nothing else.
  Result<std::vector<TokenId>> render(std::span<const HarmonyMessage> conversation) const;
  // The messages, then the begin of the next one.
  Result<std::vector<TokenId>> render_for_completion(
      std::span<const HarmonyMessage> conversation, HarmonyRole next = HarmonyRole::kAssistant
  ) const;
  // The messages as a model should learn to write them: a last answer ends the turn.
  Result<std::vector<TokenId>> render_for_training(std::span<const HarmonyMessage> conversation
  ) const;

 private:
  Result<void> append_message(const HarmonyMessage& message, std::vector<TokenId>& out) const;
  void append_text(std::string_view text, std::vector<TokenId>& out) const;

  const Tokenizer& tokenizer_;
  HarmonyTokens tokens_;
};

}  // namespace rapt
