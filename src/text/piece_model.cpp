#include <algorithm>
#include <utility>

#include "text/piece_model_internal.h"

namespace rapt {

namespace {

// Whether the mark at `pos` has no mark before it.
bool begins_word(std::string_view text, std::size_t pos) {
  return pos > 0 && !text.substr(0, pos).ends_with(kBlankMark);
}

bool has_mark_inside(std::string_view piece) {
  for (std::size_t pos = piece.find(kBlankMark); pos != std::string_view::npos;
       pos = piece.find(kBlankMark, pos + kBlankMark.size())) {
    if (begins_word(piece, pos)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string with_blanks(std::string_view piece) {
  std::string text;
  std::size_t num_copied = 0;
  for (std::size_t pos = piece.find(kBlankMark); pos != std::string_view::npos;
       pos = piece.find(kBlankMark, num_copied)) {
    text += piece.substr(num_copied, pos - num_copied);
    text += ' ';
    num_copied = pos + kBlankMark.size();
  }
  return text += piece.substr(num_copied);
}

PieceModel::PieceModel(PieceMerger merger, std::vector<std::string> bytes, BlankRules blanks)
    : merger_(std::move(merger)), bytes_(std::move(bytes)), blanks_(blanks) {
  const Vocabulary& pieces = merger_.pieces();
  words_stand_alone_ = pieces.find(kBlankMark) != kNoToken;
  for (TokenId id = 0; id < pieces.size() && words_stand_alone_; ++id) {
    words_stand_alone_ = !has_mark_inside(pieces.bytes(id));
  }
}

std::string PieceModel::with_marks(std::string_view text, bool is_first) const {
  using Prefix = BlankRules::Prefix;
  const bool begins_blank = text.starts_with(' ') || text.starts_with(kBlankMark);
  const bool has_prefix =
      blanks_.prefix == Prefix::kAlways ||
      (blanks_.prefix == Prefix::kUnlessBlank && !begins_blank) ||
      (blanks_.prefix == Prefix::kFirstUnlessBlank && !begins_blank && is_first);
  std::string marked;
  marked.reserve(text.size() + text.size() / 2 + kBlankMark.size());
  if (has_prefix && !text.empty()) {
    marked += kBlankMark;
  }
  for (const char c : text) {
    if (c == ' ') {
      marked += kBlankMark;
    } else {
      marked += c;
    }
  }
  return marked;
}

std::string PieceModel::normalize(std::string_view text) const {
  return blanks_.is_normalizer ? with_marks(text, false) : std::string(text);
}

// Where the stretch that begins at `begin` may end: joining never goes over that place, and what is
// joined first on one side changes nothing on the other.
std::size_t PieceModel::find_cut(std::string_view text, std::size_t begin) const {
  if (!words_stand_alone_ && !blanks_.splits_always) {
    return text.size();
  }
  std::size_t pos = text.find(kBlankMark, begin + 1);
  while (pos != std::string_view::npos && !blanks_.splits_always && !begins_word(text, pos)) {
    pos = text.find(kBlankMark, pos + kBlankMark.size());
  }
  return std::min(pos, text.size());
}

void PieceModel::append_tokens(std::string_view text, bool is_first, std::vector<TokenId>& out)
    const {
  std::string marked;
  if (!blanks_.is_normalizer) {
    marked = with_marks(text, is_first);
    text = marked;
  }
  PieceMerger::Scratch scratch;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = find_cut(text, begin);
    merger_.append_tokens(text.substr(begin, end - begin), scratch, out);
    begin = end;
  }
}

}  // namespace rapt
