#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "text/bpe_tokenizer_internal.h"
#include "text/utf8_internal.h"

namespace rapt {

BpeTokenizer::BpeTokenizer(
    std::unique_ptr<const BpeModel> model,
    std::vector<AddedToken> added_tokens,
    PromptFrame prompt_frame,
    bool adds_blank
)
    : model_(std::move(model)),
      added_tokens_(std::move(added_tokens)),
      prompt_frame_(std::move(prompt_frame)),
      adds_blank_(adds_blank) {
  TokenId num_ids = model_->size();
  for (const AddedToken& token : added_tokens_) {
    num_ids = std::max(num_ids, token.id + 1);
  }
  entries_.resize(static_cast<std::size_t>(num_ids));
  for (TokenId id = 0; id < model_->size(); ++id) {
    entries_[static_cast<std::size_t>(id)].bytes = model_->bytes(id);
  }
  // Where two names normalize to the same, control tokens come first, as in Hugging Face's library.
  const auto is_special = [](const AddedToken& token) {
    return token.in_text != AddedToken::InText::kAlways;
  };
  std::stable_partition(added_tokens_.begin(), added_tokens_.end(), is_special);
  std::vector<NameMatcher::Name> special_names;
  std::vector<AddedToken> as_written;
  std::vector<AddedToken> normalized;
  for (const AddedToken& token : added_tokens_) {
    CHECK(token.id >= 0, "token '", token.name, "' has the id ", token.id);
    entries_[static_cast<std::size_t>(token.id)] = {
        token.written.empty() ? token.name : token.written, is_special(token)};
    if (is_special(token) && token.in_text != AddedToken::InText::kNever) {
      special_names.push_back({token.name, token.id});
    }
    if (!token.is_normalized) {
      as_written.push_back(token);
      continue;
    }
    normalized.push_back(token);
    normalized.back().name = model_->normalize(token.name);
  }
  special_names_ = NameMatcher(std::move(special_names));
  as_written_ = AddedTokenCutter(std::move(as_written));
  normalized_ = AddedTokenCutter(std::move(normalized));
}

std::vector<TokenId> BpeTokenizer::encode(std::string_view text) const {
  return encode_with_special_in(text, {});
}

std::vector<TokenId> BpeTokenizer::encode_with_special(std::string_view text) const {
  if (is_valid_utf8(text)) {
    const TextRange all = {0, text.size()};
    return encode_parts(text, std::span(&all, 1));
  }
  const std::string repaired = to_valid_utf8(text);
  const TextRange all = {0, repaired.size()};
  return encode_parts(repaired, std::span(&all, 1));
}

// Replacements move what is behind them, so that in a text that needs some nothing is trusted.
std::vector<TokenId> BpeTokenizer::encode_with_special_in(
    std::string_view text, std::span<const TextRange> trusted
) const {
  return is_valid_utf8(text) ? encode_parts(text, trusted) : encode_parts(to_valid_utf8(text), {});
}

std::vector<TokenId> BpeTokenizer::encode_parts(
    std::string_view text, std::span<const TextRange> trusted
) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 4 + 1);
  for (const AddedTokenCutter::Part& part : as_written_.cut(text, trusted)) {
    if (part.id != AddedTokenCutter::kPlainText) {
      ids.push_back(part.id);
      continue;
    }
    // A part counts as one where tokens are looked for in normalized text.
    const auto begin = static_cast<std::size_t>(part.text.data() - text.data());
    const bool is_trusted = std::ranges::any_of(trusted, [&](const TextRange& range) {
      return range.begin <= begin && begin + part.text.size() <= range.end;
    });
    const bool is_first = begin == 0;
    if (model_->normalizes()) {
      append_plain(model_->normalize(part.text), is_first, is_trusted, ids);
    } else {
      append_plain(part.text, is_first, is_trusted, ids);
    }
  }
  return ids;
}

void BpeTokenizer::append_plain(
    std::string_view text, bool is_first, bool is_trusted, std::vector<TokenId>& out
) const {
  if (normalized_.empty()) {
    model_->append_tokens(text, is_first, out);
    return;
  }
  const TextRange all = {0, text.size()};
  const auto trusted = std::span(&all, is_trusted ? 1 : 0);
  for (const AddedTokenCutter::Part& part : normalized_.cut(text, trusted)) {
    if (part.id != AddedTokenCutter::kPlainText) {
      out.push_back(part.id);
    } else {
      model_->append_tokens(part.text, is_first && part.text.data() == text.data(), out);
    }
  }
}

std::string_view BpeTokenizer::token_bytes(TokenId id) const {
  return id >= 0 && id < vocab_size() ? entries_[static_cast<std::size_t>(id)].bytes
                                      : std::string_view();
}

bool BpeTokenizer::is_special(TokenId id) const {
  return id >= 0 && id < vocab_size() && entries_[static_cast<std::size_t>(id)].is_special;
}

std::optional<TokenId> BpeTokenizer::special_id(std::string_view name) const {
  return special_names_.find_exact(name);
}

}  // namespace rapt
