#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/added_tokens_internal.h"
#include "text/bpe_model_internal.h"
#include "text/special_tokens_internal.h"
#include "text/tokenizer.h"

namespace rapt {

// What BPE tokenizers of all kinds share: added tokens, names, and what stands around a prompt. A
// BpeModel makes the tokens of plain text. Immutable, serves all threads.
class BpeTokenizer final : public Tokenizer {
 public:
  BpeTokenizer(
      std::unique_ptr<const BpeModel> model,
      std::vector<AddedToken> added_tokens,
      PromptFrame prompt_frame = {},
      bool adds_blank = false
  );

  std::vector<TokenId> encode(std::string_view text) const override;
  std::vector<TokenId> encode_with_special(std::string_view text) const override;
  std::vector<TokenId> encode_with_special_in(
      std::string_view text, std::span<const TextRange> trusted
  ) const override;

  PromptFrame prompt_frame() const override { return prompt_frame_; }

  bool adds_blank() const override { return adds_blank_; }

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
  void append_plain(
      std::string_view text, bool is_first, bool is_trusted, std::vector<TokenId>& out
  ) const;

  std::unique_ptr<const BpeModel> model_;
  std::vector<AddedToken> added_tokens_;
  std::vector<Entry> entries_;  // by id; views into the model and added_tokens_
  PromptFrame prompt_frame_;
  bool adds_blank_;
  NameMatcher special_names_;
  AddedTokenCutter as_written_;  // tokens looked for in the text as it is
  AddedTokenCutter normalized_;  // and in what the normalizer makes of the rest
};

}  // namespace rapt
