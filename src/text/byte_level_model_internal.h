#pragma once

#include "text/bpe_model_internal.h"
#include "text/byte_pair_internal.h"
#include "text/pretokenizer_internal.h"

namespace rapt {

enum class Normalizer { kNone, kNfc };

// Byte-level BPE: split into pieces, join each piece's bytes.
class ByteLevelModel final : public BpeModel {
 public:
  ByteLevelModel(
      Pretokenizer pretokenizer, BytePairMerger merger, Normalizer normalizer = Normalizer::kNone
  );

  int size() const override { return merger_.vocabulary().size(); }

  std::string_view bytes(TokenId id) const override { return merger_.vocabulary().bytes(id); }

  bool normalizes() const override { return normalizer_ != Normalizer::kNone; }

  std::string normalize(std::string_view text) const override;
  void append_tokens(std::string_view text, bool is_first, std::vector<TokenId>& out)
      const override;

 private:
  Pretokenizer pretokenizer_;
  BytePairMerger merger_;
  Normalizer normalizer_;
};

}  // namespace rapt
