#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_pair_internal.h"
#include "text/pretokenizer_internal.h"
#include "text/special_tokens_internal.h"
#include "text/tokenizer.h"

namespace rapt {

// A token beside the byte-level vocabulary.
struct AddedToken {
  enum class InText {
    kAlways,       // the text of the token is the token, wherever it stands
    kWhenAllowed,  // a control token: only encode_with_special() turns text into it
    kNever,        // has a name for reading output, but no text turns into it
  };

  TokenId id = 0;
  std::string name;
  InText in_text = InText::kWhenAllowed;
};

// Byte-level BPE: split into pieces, join each piece's bytes. Immutable, serves all threads.
class BpeTokenizer final : public Tokenizer {
 public:
  BpeTokenizer(
      Pretokenizer pretokenizer, BytePairMerger merger, std::vector<AddedToken> added_tokens
  );

  std::vector<TokenId> encode(std::string_view text) const override;
  std::vector<TokenId> encode_with_special(std::string_view text) const override;
  std::string_view token_bytes(TokenId id) const override;
  bool is_special(TokenId id) const override;
  std::optional<TokenId> special_id(std::string_view name) const override;

  int vocab_size() const override { return static_cast<int>(entries_.size()); }

 private:
  struct Entry {
    std::string_view bytes;
    bool is_special = false;
  };

  std::vector<TokenId> encode_around(const NameMatcher& names, std::string_view text) const;

  Pretokenizer pretokenizer_;
  BytePairMerger merger_;
  std::vector<AddedToken> added_tokens_;
  std::vector<Entry> entries_;  // by id; views into the merger's vocabulary and added_tokens_
  NameMatcher always_;          // names that text always turns into
  NameMatcher when_allowed_;    // those and the control tokens'
};

}  // namespace rapt
