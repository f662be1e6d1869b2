#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/bpe_model_internal.h"
#include "text/piece_merger_internal.h"

namespace rapt {

// What SentencePiece writes for a blank.
inline constexpr std::string_view kBlankMark = "\u2581";

// Each blank mark as a blank again.
std::string with_blanks(std::string_view piece);

// What a tokenizer of SentencePiece's kind does with blanks before it makes tokens: each becomes
// kBlankMark.
struct BlankRules {
  // Whether a mark is put before a text, so that its first word looks like any other.
  enum class Prefix {
    kNone,
    kAlways,            // before each stretch of plain text
    kUnlessBlank,       // the same, but not before a stretch that begins with a blank
    kFirstUnlessBlank,  // the same, but only at the begin of the whole text
  };

  Prefix prefix = Prefix::kNone;
  bool is_normalizer =
      true;  // done before added tokens of AddedToken::is_normalized are looked for
  bool splits_always = false;  // no token reaches over the begin of a mark
};

// BPE over characters, with blanks as marks: Llama 2, Mistral, Gemma.
class PieceModel final : public BpeModel {
 public:
  // `bytes` is what each token stands for in a text, by id.
  PieceModel(PieceMerger merger, std::vector<std::string> bytes, BlankRules blanks);

  int size() const override { return static_cast<int>(bytes_.size()); }

  std::string_view bytes(TokenId id) const override { return bytes_[static_cast<std::size_t>(id)]; }

  bool normalizes() const override { return blanks_.is_normalizer; }

  std::string normalize(std::string_view text) const override;
  void append_tokens(std::string_view text, bool is_first, std::vector<TokenId>& out)
      const override;

 private:
  std::string with_marks(std::string_view text, bool is_first) const;
  std::size_t find_cut(std::string_view text, std::size_t begin) const;

  PieceMerger merger_;
  std::vector<std::string> bytes_;
  BlankRules blanks_;
  bool words_stand_alone_ = false;  // no token has a mark behind another character
};

}  // namespace rapt
