#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/added_tokens_internal.h"
#include "text/byte_pair_internal.h"
#include "text/pretokenizer_internal.h"
#include "text/special_tokens_internal.h"
#include "text/tokenizer.h"

namespace rapt {

enum class Normalizer { kNone, kNfc };

// Byte-level BPE: split into pieces, join each piece's bytes. Immutable, serves all threads.
class BpeTokenizer final : public Tokenizer {
 public:
  BpeTokenizer(
      Pretokenizer pretokenizer,
      BytePairMerger merger,
      std::vector<AddedToken> added_tokens,
      Normalizer normalizer = Normalizer::kNone
  );

  std::vector<TokenId> encode(std::string_view text) const override;
  std::vector<TokenId> encode_with_special(std::string_view text) const override;
  std::vector<TokenId> encode_with_special_in(
      std::string_view text, std::span<const TextRange> trusted
  ) const override;
  std::string_view token_bytes(TokenId id) const override;
  bool is_special(TokenId id) const override;
  std::optional<TokenId> special_id(std::string_view name) const override;

  int vocab_size() const override { return static_cast<int>(entries_.size()); }

 private:
  struct Entry {
    std::string_view bytes;
    bool is_special = false;
  };

  std::vector<TokenId> encode_parts(std::string_view text, std::span<const TextRange> trusted)
      const;
  void append_plain(std::string_view text, bool is_trusted, std::vector<TokenId>& out) const;
  void append_pieces(std::string_view text, std::vector<TokenId>& out) const;

  Pretokenizer pretokenizer_;
  BytePairMerger merger_;
  Normalizer normalizer_;
  std::vector<AddedToken> added_tokens_;
  std::vector<Entry> entries_;  // by id; views into the merger's vocabulary and added_tokens_
  NameMatcher special_names_;
  AddedTokenCutter as_written_;  // tokens looked for in the text as it is
  AddedTokenCutter normalized_;  // and in what the normalizer makes of the rest
};

}  // namespace rapt
