#pragma once

#include <string_view>

#include "text/chat/chat_format.h"
#include "text/chat/harmony/harmony_parser_internal.h"

namespace rapt {

// Sorts Harmony messages into what a chat client sees: analysis is reasoning, final and commentary
// are content, and so is a message to a tool that nobody declared. Several messages of one kind
// are joined with a line feed. One choice, one thread.
class HarmonyChatParser final : public ChatParser, private HarmonySink {
 public:
  HarmonyChatParser(const Tokenizer& tokenizer, const HarmonyTokens& tokens);

  ChatDelta push(TokenId token) override;
  ChatDelta finish() override;
  bool in_reasoning() const override;

 private:
  // One of the two texts that the client sees.
  struct Stream {
    std::string delta;
    bool has_text = false;
    bool needs_line_feed = false;  // before the next text: it is another message's
  };

  void on_begin(const HarmonyHeader& header) override;
  void on_text(std::string_view text) override;
  void on_end() override;
  ChatDelta take_delta();

  HarmonyParser parser_;
  Stream reasoning_;
  Stream content_;
  Stream* target_ = &content_;
};

}  // namespace rapt
