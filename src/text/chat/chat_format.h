#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "request/request.h"
#include "text/chat/chat_message.h"
#include "text/chat/chat_repairs.h"
#include "text/chat/chat_templates.h"
#include "text/chat/chat_tools.h"
#include "text/tokenizer.h"

namespace rapt {

// A piece of an answer, as the client should see it. Fields are valid UTF-8 and never hold a
// control token's name that came from a control token's id. Several messages of one kind in a turn
// are joined with a line feed.
struct ChatDelta {
  std::string reasoning = {};  // thinking (harmony: analysis)
  std::string content = {};    // the visible answer (harmony: final, and commentary to the user)
  std::vector<ToolCallDelta> tool_calls = {};  // in order; at most one for each call

  bool empty() const { return reasoning.empty() && content.empty() && tool_calls.empty(); }
};

// Reads one choice's produced tokens and splits them into reasoning, content and calls of declared
// tools. Never fails: malformed output is repaired or passed through, and no text is lost. Deltas
// joined equal the whole. One choice, one thread.
class ChatParser {
 public:
  virtual ~ChatParser() = default;
  virtual ChatDelta push(TokenId token) = 0;
  // The end of the stream (any finish reason): what was held back.
  virtual ChatDelta finish() = 0;
  // True while the tokens pushed last belong to thinking; for usage's reasoning_tokens.
  virtual bool in_reasoning() const = 0;

  // Calls that have begun so far.
  virtual int num_tool_calls() const { return 0; }

  // What was put right so far.
  virtual RepairCounts repairs() const { return {}; }
};

// A model family's way to write conversations as tokens. Immutable, serves all threads.
class ChatFormat {
 public:
  virtual ~ChatFormat() = default;
  // The prompt for the assistant's next turn. The error names the message or the option at fault in
  // its `param`: "messages[3].tool_call_id", "tools[0].function.name".
  virtual Result<std::vector<TokenId>> render(
      std::span<const ChatMessage> messages, const ChatOptions& options
  ) const = 0;
  // A parser for a conversation without tools.
  virtual std::unique_ptr<ChatParser> make_parser() const = 0;

  // A parser that knows the tools of `options`, with which a prompt has been rendered. Ids of calls
  // are drawn from `id_seed`: the same text gives the same ids, so every choice needs its own.
  virtual std::unique_ptr<ChatParser> make_parser(const ChatOptions&, std::string_view) const {
    return make_parser();
  }

  // What makes the model keep to the tool choice of `options`, for Request::make_constraint; empty
  // when the output is free. `options` are those of a prompt that has been rendered.
  virtual std::function<std::unique_ptr<TokenConstraint>()> make_constraint(const ChatOptions&)
      const {
    return {};
  }

  // A matcher for stop strings that looks at visible content only (not at thinking, not at control
  // tokens). `stops` are non-empty UTF-8; none counts that ends within the first `min_tokens`
  // tokens.
  virtual std::unique_ptr<StopMatcher> make_stop_matcher(
      std::vector<std::string> stops, int min_tokens = 0
  ) const = 0;

  // The same where calls of the tools of `options` are no visible content.
  virtual std::unique_ptr<StopMatcher> make_stop_matcher(
      const ChatOptions&, std::vector<std::string> stops, int min_tokens
  ) const {
    return make_stop_matcher(std::move(stops), min_tokens);
  }

  // Tokens that end a turn.
  virtual std::vector<TokenId> stop_token_ids() const = 0;

  // Whether prompts say how much to think, by ChatOptions::reasoning_effort or by its name in
  // template_kwargs.
  virtual bool has_reasoning_effort() const { return false; }
};

// The format called `name`: "harmony", or "jinja", which writes prompts by the model's own template
// (one that cannot be read is an error of each prompt). An error names the known formats.
// `tokenizer` must outlive it.
Result<std::unique_ptr<ChatFormat>> make_chat_format(
    std::string_view name, const Tokenizer& tokenizer, const ChatTemplates& templates = {}
);

}  // namespace rapt
