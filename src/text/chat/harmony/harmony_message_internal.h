#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "request/request.h"
#include "text/tokenizer.h"

namespace rapt {

// Harmony is how gpt-oss writes conversations:
//
//   message := START who [" to=" recipient] [CHANNEL channel] [" " content type] MESSAGE body end
//
// with ids for START, CHANNEL, MESSAGE and the end (END, CALL or RETURN), and everything between
// them ordinary text. README.md in this folder has the whole picture.

enum class HarmonyRole { kSystem, kDeveloper, kUser, kAssistant, kTool };

std::string_view harmony_role_name(HarmonyRole role);
std::optional<HarmonyRole> harmony_role_called(std::string_view name);

// One message on its way into a prompt.
struct HarmonyMessage {
  HarmonyRole role = HarmonyRole::kUser;
  std::string name;  // tool: the tool's full name, which takes the role's place; others: may be ""
  bool has_empty_name = false;  // the name is there and empty, which is not the same: "user:"
  std::optional<std::string> recipient;
  std::optional<std::string> channel;
  std::optional<std::string> content_type;
  std::vector<std::string> parts;  // the body; parts are tokenized one by one
};

using HarmonyConversation = std::vector<HarmonyMessage>;

// The ids of Harmony's control tokens.
struct HarmonyTokens {
  TokenId start = 0;
  TokenId message = 0;
  TokenId channel = 0;
  TokenId constrain = 0;
  TokenId end = 0;
  TokenId call = 0;
  TokenId end_of_turn = 0;  // <|return|>
  TokenId end_of_text = 0;

  // The error names the token that `tokenizer` lacks.
  static Result<HarmonyTokens> find_in(const Tokenizer& tokenizer);

  bool ends_message(TokenId id) const {
    return id == end || id == call || id == end_of_turn || id == end_of_text;
  }
};

inline constexpr std::string_view kHarmonyAnalysis = "analysis";
inline constexpr std::string_view kHarmonyCommentary = "commentary";
inline constexpr std::string_view kHarmonyFinal = "final";
inline constexpr std::string_view kHarmonyConstrainText = "<|constrain|>";

}  // namespace rapt
