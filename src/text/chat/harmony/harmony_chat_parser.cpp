#include <utility>

#include "text/chat/harmony/harmony_chat_parser_internal.h"

namespace rapt {

namespace {

// A message to "assistant" or to all is no call: tools answer to the one, anybody talks to the
// other.
bool is_call(const HarmonyHeader& header) {
  return header.recipient && *header.recipient != "assistant" && *header.recipient != "all";
}

}  // namespace

HarmonyChatParser::HarmonyChatParser(const Tokenizer& tokenizer, const HarmonyTokens& tokens)
    : parser_(tokenizer, tokens, *this) {}

ChatDelta HarmonyChatParser::push(TokenId token) {
  parser_.push(token);
  return take_delta();
}

ChatDelta HarmonyChatParser::finish() {
  parser_.finish();
  return take_delta();
}

// As vLLM counts reasoning tokens: the bodies on analysis, and calls.
bool HarmonyChatParser::in_reasoning() const {
  const HarmonyHeader* header = parser_.current();
  return header != nullptr && (header->channel == kHarmonyAnalysis ||
                               (header->channel == kHarmonyCommentary && is_call(*header)));
}

void HarmonyChatParser::on_begin(const HarmonyHeader& header) {
  const bool is_reasoning = header.channel == kHarmonyAnalysis && !is_call(header);
  target_ = is_reasoning ? &reasoning_ : &content_;
  target_->needs_line_feed = target_->has_text;
}

void HarmonyChatParser::on_text(std::string_view text) {
  if (target_->needs_line_feed) {
    target_->delta += '\n';
    target_->needs_line_feed = false;
  }
  target_->delta += text;
  target_->has_text = true;
}

void HarmonyChatParser::on_end() {}

ChatDelta HarmonyChatParser::take_delta() {
  return {std::exchange(reasoning_.delta, {}), std::exchange(content_.delta, {})};
}

}  // namespace rapt
