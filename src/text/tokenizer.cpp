#include "text/tokenizer.h"

#include <algorithm>

#include "text/special_tokens_internal.h"

namespace rapt {

std::vector<TokenId> Tokenizer::encode_with_special_in(
    std::string_view text, std::span<const TextRange> trusted
) const {
  std::vector<NameMatcher::Name> names;
  for (TokenId id = 0; id < vocab_size(); ++id) {
    const std::string_view name = token_bytes(id);
    if (is_special(id) && special_id(name) == id) {
      names.push_back({std::string(name), id});
    }
  }
  const NameMatcher matcher(std::move(names));
  std::vector<TokenId> ids;
  const auto add_plain = [&](std::size_t begin, std::size_t end) {
    if (begin < end) {
      const std::vector<TokenId> plain = encode(text.substr(begin, end - begin));
      ids.insert(ids.end(), plain.begin(), plain.end());
    }
  };
  std::size_t num_done = 0;
  for (const TextRange& range : trusted) {
    std::size_t from = range.begin;
    while (const auto match = matcher.find(text.substr(0, range.end), from)) {
      add_plain(num_done, match->begin);
      ids.push_back(match->id);
      num_done = match->end;
      from = match->end;
    }
  }
  add_plain(num_done, text.size());
  return ids;
}

std::vector<TokenId> Tokenizer::encode_prompt(std::string_view text) const {
  const PromptFrame frame = prompt_frame();
  std::vector<TokenId> ids = encode_with_special(text);
  const bool has_begin = ids.size() >= frame.begin.size() &&
                         std::equal(frame.begin.begin(), frame.begin.end(), ids.begin());
  if (!has_begin) {
    ids.insert(ids.begin(), frame.begin.begin(), frame.begin.end());
  }
  const bool has_end = ids.size() >= frame.end.size() &&
                       std::equal(frame.end.rbegin(), frame.end.rend(), ids.rbegin());
  if (!has_end) {
    ids.insert(ids.end(), frame.end.begin(), frame.end.end());
  }
  return ids;
}

}  // namespace rapt
