#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace rapt {

// What a model's files say about how it writes conversations: templates in Jinja2, and the special
// tokens that those may use. For the chat format "jinja".
struct ChatTemplates {
  std::string what;                          // where they come from, for messages
  std::string standard;                      // "" when there is none
  std::optional<std::string> tool_use = {};  // takes the other's place where there are tools
  // "bos_token", "eos_token", ... and what they look like in a text.
  std::vector<std::pair<std::string, std::string>> special_tokens = {};

  bool empty() const { return standard.empty() && !tool_use; }

  // Keeps the template if it is one of the two that are used.
  void add_named(std::string_view name, std::string text);
};

// Takes templates and special tokens from the text of a tokenizer_config.json, which `what` names.
Result<ChatTemplates> read_tokenizer_config(std::string_view text, const std::string& what);

}  // namespace rapt
