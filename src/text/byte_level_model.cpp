#include <utility>

#include "text/byte_level_model_internal.h"
#include "text/normalizer_internal.h"

namespace rapt {

ByteLevelModel::ByteLevelModel(
    Pretokenizer pretokenizer, BytePairMerger merger, Normalizer normalizer
)
    : pretokenizer_(std::move(pretokenizer)), merger_(std::move(merger)), normalizer_(normalizer) {}

std::string ByteLevelModel::normalize(std::string_view text) const {
  return normalizer_ == Normalizer::kNfc ? to_nfc(text) : std::string(text);
}

void ByteLevelModel::append_tokens(
    std::string_view text, bool /*is_first*/, std::vector<TokenId>& out
) const {
  BytePairMerger::Scratch scratch;
  PieceReader pieces(pretokenizer_, text);
  while (const auto piece = pieces.next()) {
    merger_.append_tokens(*piece, scratch, out);
  }
}

}  // namespace rapt
