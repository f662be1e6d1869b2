#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/chat/chat_message.h"

namespace rapt {

// Checks the names, schemas and choice of `options`' tools; the error says which is wrong.
Result<void> check_harmony_tools(const ChatOptions& options);

// The client's tools by two names: the client's own and the one in the prompt. They differ where
// gpt-oss would take the client's for something that it knows from its training, a built-in tool
// ("python", "browser.open") or a word of the format: such a tool gets an alias. Which one depends
// on the declared names only, and no two tools share one. Immutable.
class HarmonyToolNames {
 public:
  HarmonyToolNames() = default;
  // The tools that a prompt for `options`, which have passed check_harmony_tools, declares.
  explicit HarmonyToolNames(const ChatOptions& options);

  bool empty() const { return in_prompt_.empty(); }

  // What the prompt calls the tool `name`; also one that is not declared (any more), from history.
  // Only letters, digits, '_', '.' and '-' are left of it.
  std::string in_prompt(std::string_view name) const;

  // A declared tool that the model has called.
  struct Match {
    std::string name;           // the client's
    bool is_written_so = true;  // the model wrote the full name as the prompt has it
  };

  // The declared tool that a recipient means: "functions.get_weather", also without "functions.".
  std::optional<Match> find(std::string_view recipient) const;

 private:
  using NameMap = std::map<std::string, std::string, std::less<>>;

  std::string free_alias(std::string_view name) const;

  NameMap in_prompt_;  // by the client's name
  NameMap client_;     // by the name in the prompt
};

}  // namespace rapt
