#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "request/request.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace rapt::jinja {

// A word that parts a model's output: "<think>", "[TOOL_CALLS]".
struct Tag {
  std::string text;
  std::optional<TokenId> id;  // when the tokenizer has it as one token
};

// The tag, with its id if `tokenizer` has one for it.
Tag make_tag(const Tokenizer& tokenizer, std::string text);

// Cuts the tokens of an answer at tags. A tag that is one token counts by its id only, so that text
// that happens to spell it is text; one that the tokenizer does not know counts by its text, of
// which what may become one is held back. One choice, one thread.
class TagScanner {
 public:
  // `tokenizer` must outlive this.
  TagScanner(const Tokenizer& tokenizer, std::vector<Tag> tags);

  // Text, or the tag of that index.
  struct Piece {
    std::string text = {};
    std::optional<std::size_t> tag_idx = {};
  };

  std::vector<Piece> push(TokenId token);
  // What was held back.
  std::vector<Piece> finish();

 private:
  void add_text(const std::string& text, std::vector<Piece>& out);
  std::size_t held_back() const;

  std::vector<Tag> tags_;
  Detokenizer detokenizer_;
  std::string held_;
};

}  // namespace rapt::jinja
