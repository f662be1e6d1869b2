#pragma once

#include <memory>

#include "base/json.h"
#include "base/result.h"
#include "text/tokenizer.h"

namespace rapt {

// Harmony for other programs: conversations and messages as JSON, prompts and completions as lists
// of ids. What the commands `rapt harmony render` and `rapt harmony parse` answer to one line.
// Immutable, serves all threads.
class HarmonyLines {
 public:
  virtual ~HarmonyLines() = default;

  // A conversation to ids, the same as OpenAI's library gives. Its key "render" may hold "mode"
  // ("completion", "conversation", "training"), "next_turn_role" and "auto_drop_analysis".
  virtual Result<json::value> render(const json::value& conversation) const = 0;

  // What a model wrote, to messages: [ids], or {"tokens": [ids], "role": "assistant" or null,
  // "tools": [names]}. The role is that of the first message, null when the tokens begin with
  // "<|start|>". `is_strict`: as OpenAI's library in its strict mode, errors included; otherwise
  // malformed output is repaired and only a line that is no such request is an error.
  virtual Result<json::value> parse(const json::value& request, bool is_strict) const = 0;
};

// `tokenizer` must have Harmony's control tokens and outlive the result.
Result<std::unique_ptr<HarmonyLines>> make_harmony_lines(const Tokenizer& tokenizer);

}  // namespace rapt
