#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "request/request.h"
#include "text/chat/chat_repairs.h"
#include "text/chat/chat_tools.h"

namespace rapt {

class ChatParser;
class Tokenizer;

// A drawn token with what the engine said about its probability.
struct LogprobEntry {
  TokenLogprob drawn;
  std::vector<TokenLogprob> top;  // best first
  int text_offset = 0;            // characters of text before this token
};

// A stretch of one choice's answer. Pieces joined in order are the whole answer, so a streamed
// answer and a whole one come from the same pieces.
struct ChoicePiece {
  std::string reasoning;
  std::string text;
  std::vector<ToolCallDelta> tool_calls;  // at most one for each call
  std::vector<LogprobEntry> logprobs;
  std::vector<TokenId> token_ids;
  int num_tokens = 0;
  int num_reasoning_tokens = 0;
  std::optional<FinishInfo> finish;

  bool empty() const;
  // Moves `next` to the end of this.
  void append(ChoicePiece&& next);
};

// Turns the token events of one choice into text. Dialects put the pieces into their own shapes.
// Lives on the connection's thread of execution.
class ChoiceDecoder {
 public:
  virtual ~ChoiceDecoder() = default;
  // Adds what `event` makes certain to `piece`.
  virtual void push(const TokenEvent& event, ChoicePiece& piece) = 0;

  // What was put right in the model's format so far.
  virtual RepairCounts repairs() const { return {}; }

  // Calls of tools that have begun so far.
  virtual int num_tool_calls() const { return 0; }
};

struct DecoderOptions {
  std::vector<std::string> stop_strings = {};
  bool include_stop = false;  // keep the stop string, or the text of the stop token
  int min_tokens = 0;         // stop strings do not count in these first tokens
  bool keep_special = false;  // show special tokens as text
  bool keep_token_ids = false;
  int text_offset = 0;  // characters already shown (an echoed prompt)
};

// Plain text. Without a tokenizer the text stays empty.
std::unique_ptr<ChoiceDecoder> make_text_decoder(
    const Tokenizer* tokenizer, DecoderOptions options
);

// Reasoning, content and calls apart, as `parser` tells them. Log-probabilities are those of the
// content's tokens only: control tokens and thinking have no place in OpenAI's `logprobs.content`.
std::unique_ptr<ChoiceDecoder> make_chat_decoder(
    const Tokenizer& tokenizer, std::unique_ptr<ChatParser> parser, DecoderOptions options
);

int num_characters(std::string_view utf8);

}  // namespace rapt
