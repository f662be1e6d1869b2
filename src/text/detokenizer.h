#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace rapt {

// Turns a stream of tokens into text, piece by piece. A piece is always valid UTF-8: bytes of an
// unfinished character are held back; a byte sequence that can no longer become a character turns
// into U+FFFD (one a maximal invalid stretch, as WHATWG decoding does). The pieces joined equal the
// lossy decoding of all bytes. Owned by one choice, one thread.
class Detokenizer {
 public:
  // Special tokens are left out of the text unless `keep_special`. `tokenizer` must outlive this.
  explicit Detokenizer(const Tokenizer& tokenizer, bool keep_special = false);

  // The text that `token` makes certain; may be empty.
  std::string push(TokenId token);
  std::string push_bytes(std::string_view bytes);
  // The end of the stream: what was held back, as U+FFFD when it is incomplete.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool keep_special_;
  std::string pending_;  // an unfinished character, at most 3 bytes
};

// What a whole text's ids stand for, special tokens by their names. A blank that encode() put
// before the text is left out.
std::string text_of_tokens(const Tokenizer& tokenizer, std::span<const TokenId> ids);

}  // namespace rapt
