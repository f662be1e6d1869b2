#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "request/request.h"
#include "text/chat/chat_message.h"
#include "text/tokenizer.h"

namespace rapt {

// A piece of an answer, as the client should see it. Fields are valid UTF-8 and never hold a
// control token's name that came from a control token's id. Several messages of one kind in a turn
// are joined with a line feed.
struct ChatDelta {
  std::string reasoning;  // thinking (harmony: analysis)
  std::string content;    // the visible answer (harmony: final, and commentary to the user)

  bool empty() const { return reasoning.empty() && content.empty(); }
};

// Reads one choice's produced tokens and splits them into reasoning and content. Never fails:
// malformed output is repaired or passed through, and no text is lost. Deltas joined equal the
// whole. One choice, one thread.
class ChatParser {
 public:
  virtual ~ChatParser() = default;
  virtual ChatDelta push(TokenId token) = 0;
  // The end of the stream (any finish reason): what was held back.
  virtual ChatDelta finish() = 0;
  // True while the tokens pushed last belong to thinking; for usage's reasoning_tokens.
  virtual bool in_reasoning() const = 0;
};

// A model family's way to write conversations as tokens. Immutable, serves all threads.
class ChatFormat {
 public:
  virtual ~ChatFormat() = default;
  // The prompt for the assistant's next turn.
  virtual Result<std::vector<TokenId>> render(
      std::span<const ChatMessage> messages, const ChatOptions& options
  ) const = 0;
  virtual std::unique_ptr<ChatParser> make_parser() const = 0;
  // A matcher for stop strings that looks at visible content only (not at thinking, not at control
  // tokens). `stops` are non-empty UTF-8; none counts that ends within the first `min_tokens`
  // tokens.
  virtual std::unique_ptr<StopMatcher> make_stop_matcher(
      std::vector<std::string> stops, int min_tokens = 0
  ) const = 0;
  // Tokens that end a turn.
  virtual std::vector<TokenId> stop_token_ids() const = 0;
};

// The format called `name` ("harmony"); an error names the known ones. `tokenizer` must outlive it.
Result<std::unique_ptr<ChatFormat>> make_chat_format(
    std::string_view name, const Tokenizer& tokenizer
);

}  // namespace rapt
