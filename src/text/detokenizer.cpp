#include "text/detokenizer.h"

#include <utility>

#include "text/utf8_internal.h"

namespace rapt {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool keep_special)
    : tokenizer_(tokenizer), keep_special_(keep_special) {}

std::string Detokenizer::push(TokenId token) {
  if (!keep_special_ && tokenizer_.is_special(token)) {
    return {};
  }
  return push_bytes(tokenizer_.token_bytes(token));
}

std::string Detokenizer::push_bytes(std::string_view bytes) {
  std::string text;
  if (pending_.empty()) {
    pending_ = bytes.substr(append_lossy(bytes, text));
  } else {
    pending_ += bytes;
    pending_.erase(0, append_lossy(pending_, text));
  }
  return text;
}

std::string Detokenizer::finish() {
  return to_valid_utf8(std::exchange(pending_, {}));
}

std::string text_of_tokens(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  Detokenizer detokenizer(tokenizer, true);
  std::string text;
  for (const TokenId id : ids) {
    text += detokenizer.push(id);
  }
  text += detokenizer.finish();
  if (tokenizer.adds_blank() && text.starts_with(' ')) {
    text.erase(0, 1);
  }
  return text;
}

}  // namespace rapt
