#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/chat/harmony/harmony_message_internal.h"

namespace rapt {

// A message as it was read from tokens.
struct HarmonyParsedMessage {
  std::string role;
  std::optional<std::string> name;  // of a tool
  std::optional<std::string> channel;
  std::optional<std::string> recipient;
  std::optional<std::string> content_type;
  std::string content;
};

// Reads a whole completion just as OpenAI's library does in its strict mode, faults and all: for
// tests of conformance, not for serving (HarmonyParser is for that). `role` is that of the first
// message when its "<|start|>role" stood in the prompt; without it, the tokens begin with START.
// An error where that library has one.
Result<std::vector<HarmonyParsedMessage>> parse_harmony_strictly(
    const Tokenizer& tokenizer,
    const HarmonyTokens& tokens,
    std::span<const TokenId> ids,
    std::optional<HarmonyRole> role
);

}  // namespace rapt
