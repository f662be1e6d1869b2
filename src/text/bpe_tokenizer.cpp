#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/bpe_tokenizer_internal.h"
#include "text/utf8_internal.h"

namespace rapt {

BpeTokenizer::BpeTokenizer(
    Pretokenizer pretokenizer, BytePairMerger merger, std::vector<AddedToken> added_tokens
)
    : pretokenizer_(std::move(pretokenizer)),
      merger_(std::move(merger)),
      added_tokens_(std::move(added_tokens)) {
  const Vocabulary& vocabulary = merger_.vocabulary();
  TokenId num_ids = vocabulary.size();
  for (const AddedToken& token : added_tokens_) {
    num_ids = std::max(num_ids, token.id + 1);
  }
  entries_.resize(static_cast<std::size_t>(num_ids));
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    entries_[static_cast<std::size_t>(id)].bytes = vocabulary.bytes(id);
  }
  std::vector<NameMatcher::Name> always;
  std::vector<NameMatcher::Name> when_allowed;
  for (const AddedToken& token : added_tokens_) {
    CHECK(token.id >= 0, "token '", token.name, "' has the id ", token.id);
    const bool is_special = token.in_text != AddedToken::InText::kAlways;
    entries_[static_cast<std::size_t>(token.id)] = {token.name, is_special};
    if (!is_special) {
      always.push_back({token.name, token.id});
    }
    if (token.in_text != AddedToken::InText::kNever) {
      when_allowed.push_back({token.name, token.id});
    }
  }
  always_ = NameMatcher(std::move(always));
  when_allowed_ = NameMatcher(std::move(when_allowed));
}

std::vector<TokenId> BpeTokenizer::encode(std::string_view text) const {
  return encode_around(always_, text);
}

std::vector<TokenId> BpeTokenizer::encode_with_special(std::string_view text) const {
  return encode_around(when_allowed_, text);
}

std::vector<TokenId> BpeTokenizer::encode_around(const NameMatcher& names, std::string_view text)
    const {
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = to_valid_utf8(text);
    text = repaired;
  }
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 4 + 1);
  BytePairMerger::Scratch scratch;
  const auto append_plain = [&](std::string_view plain) {
    if (plain.empty()) {
      return;
    }
    PieceReader pieces(pretokenizer_, plain);
    while (const auto piece = pieces.next()) {
      merger_.append_tokens(*piece, scratch, ids);
    }
  };
  std::size_t pos = 0;
  if (!names.empty()) {
    while (const auto match = names.find(text, pos)) {
      append_plain(text.substr(pos, match->begin - pos));
      ids.push_back(match->id);
      pos = match->end;
    }
  }
  append_plain(text.substr(pos));
  return ids;
}

std::string_view BpeTokenizer::token_bytes(TokenId id) const {
  return id >= 0 && id < vocab_size() ? entries_[static_cast<std::size_t>(id)].bytes
                                      : std::string_view();
}

bool BpeTokenizer::is_special(TokenId id) const {
  return id >= 0 && id < vocab_size() && entries_[static_cast<std::size_t>(id)].is_special;
}

std::optional<TokenId> BpeTokenizer::special_id(std::string_view name) const {
  const auto id = when_allowed_.find_exact(name);
  return id && is_special(*id) ? id : std::nullopt;
}

}  // namespace rapt
