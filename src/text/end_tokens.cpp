#include "text/end_tokens.h"

#include <array>
#include <string_view>

namespace rapt {

std::vector<TokenId> named_end_tokens(const Tokenizer& tokenizer) {
  constexpr std::array<std::string_view, 12> kNames = {
      "<|eot_id|>",
      "<|eom_id|>",
      "<|end_of_text|>",
      "<|im_end|>",
      "<|endoftext|>",
      "<|end|>",
      "</s>",
      "<end_of_turn>",
      "<eos>",
      "<EOT>",
      "<|EOT|>",
      "<｜end▁of▁sentence｜>",
  };
  std::vector<TokenId> ids;
  // In harmony's, it ends a message, and the turn goes on.
  const bool is_harmony = tokenizer.special_id("<|return|>") && tokenizer.special_id("<|call|>");
  for (const std::string_view name : kNames) {
    const auto id = tokenizer.special_id(name);
    if (id && !(is_harmony && name == "<|end|>")) {
      ids.push_back(*id);
    }
  }
  return ids;
}

}  // namespace rapt
