#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "request/request.h"
#include "text/special_tokens_internal.h"
#include "text/tokenizer.h"

namespace rapt {

// A token that texts are cut at before tokens are made of the rest.
struct AddedToken {
  enum class InText {
    kAlways,       // the text of the token is the token, wherever it stands
    kWhenAllowed,  // a control token: only encode_with_special() turns text into it
    kNever,        // has a name for reading output, but no text turns into it
  };

  TokenId id = 0;
  std::string name;
  InText in_text = InText::kWhenAllowed;
  bool lstrip = false;          // swallows the white space before it
  bool rstrip = false;          // and behind it
  bool is_single_word = false;  // not inside a word
  bool is_normalized = false;   // looked for in the text as the normalizer made it
  std::string written = {};     // what it stands for in a text, when that is not its name
};

// Cuts a text at the added tokens that it spells out. Immutable, serves all threads.
class AddedTokenCutter {
 public:
  AddedTokenCutter() = default;
  // What a token with InText::kNever spells is not looked for.
  explicit AddedTokenCutter(std::vector<AddedToken> tokens);

  struct Part {
    std::string_view text;
    TokenId id = kPlainText;
  };

  static constexpr TokenId kPlainText = -1;

  // The parts in order. Control tokens are cut out only where their text lies in one of `trusted`
  // (in order and apart); elsewhere it stays plain text, but no other token is looked for inside it
  // (as in Hugging Face's library).
  std::vector<Part> cut(std::string_view text, std::span<const TextRange> trusted) const;

  bool empty() const { return matcher_.empty(); }

 private:
  std::vector<AddedToken> tokens_;
  NameMatcher matcher_;  // its ids are indices of tokens_
};

}  // namespace rapt
