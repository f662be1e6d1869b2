#pragma once

#include <memory>

#include "text/chat/chat_format.h"

namespace rapt {

// Writes a streamed answer to the terminal: the visible text to stdout; the thinking, dimmed, to
// stderr when that is a terminal (so that a pipe gets the answer alone).
class AnswerPrinter {
 public:
  explicit AnswerPrinter(const ChatFormat& format);

  void push(TokenId token);
  void finish();

  // All that was shown, for the conversation's next turn.
  const std::string& content() const { return content_; }

  const std::string& reasoning() const { return reasoning_; }

 private:
  void print(const ChatDelta& delta);
  void end_thinking();

  std::unique_ptr<ChatParser> parser_;
  bool shows_thinking_;
  bool is_thinking_ = false;
  std::string content_;
  std::string reasoning_;
};

}  // namespace rapt
