#include <utility>

#include "text/chat/harmony/harmony_message_internal.h"

namespace rapt {

std::string_view harmony_role_name(HarmonyRole role) {
  switch (role) {
    case HarmonyRole::kSystem:
      return "system";
    case HarmonyRole::kDeveloper:
      return "developer";
    case HarmonyRole::kUser:
      return "user";
    case HarmonyRole::kAssistant:
      return "assistant";
    case HarmonyRole::kTool:
      return "tool";
  }
  return "";
}

std::optional<HarmonyRole> harmony_role_called(std::string_view name) {
  for (const HarmonyRole role :
       {HarmonyRole::kSystem,
        HarmonyRole::kDeveloper,
        HarmonyRole::kUser,
        HarmonyRole::kAssistant,
        HarmonyRole::kTool}) {
    if (harmony_role_name(role) == name) {
      return role;
    }
  }
  return std::nullopt;
}

Result<HarmonyTokens> HarmonyTokens::find_in(const Tokenizer& tokenizer) {
  HarmonyTokens tokens;
  for (const auto& [name, id] : std::initializer_list<std::pair<const char*, TokenId*>>{
           {"<|start|>", &tokens.start},
           {"<|message|>", &tokens.message},
           {"<|channel|>", &tokens.channel},
           {"<|constrain|>", &tokens.constrain},
           {"<|end|>", &tokens.end},
           {"<|call|>", &tokens.call},
           {"<|return|>", &tokens.end_of_turn},
           {"<|endoftext|>", &tokens.end_of_text},
       }) {
    const auto found = tokenizer.special_id(name);
    if (!found) {
      return bad_file(
          std::string("the tokenizer has no token ") + name +
          ", which the chat format 'harmony' needs; use the tokenizer that came with the model"
      );
    }
    *id = *found;
  }
  return tokens;
}

}  // namespace rapt
