#include <algorithm>
#include <utility>

#include "text/chat/jinja/tag_scanner_internal.h"

namespace rapt::jinja {

Tag make_tag(const Tokenizer& tokenizer, std::string text) {
  Tag tag{std::move(text), std::nullopt};
  const std::vector<TokenId> ids = tokenizer.encode_with_special(tag.text);
  if (ids.size() == 1 && tokenizer.token_bytes(ids[0]) == tag.text) {
    tag.id = ids[0];
  }
  return tag;
}

TagScanner::TagScanner(const Tokenizer& tokenizer, std::vector<Tag> tags)
    : tags_(std::move(tags)), detokenizer_(tokenizer) {}

std::vector<TagScanner::Piece> TagScanner::push(TokenId token) {
  std::vector<Piece> pieces;
  for (std::size_t idx = 0; idx < tags_.size(); ++idx) {
    if (tags_[idx].id == token) {
      pieces = finish();
      pieces.push_back({.tag_idx = idx});
      return pieces;
    }
  }
  add_text(detokenizer_.push(token), pieces);
  return pieces;
}

std::vector<TagScanner::Piece> TagScanner::finish() {
  std::vector<Piece> pieces;
  add_text(detokenizer_.finish(), pieces);
  if (!held_.empty()) {
    pieces.push_back({.text = std::exchange(held_, {})});
  }
  return pieces;
}

void TagScanner::add_text(const std::string& text, std::vector<Piece>& out) {
  held_ += text;
  while (true) {
    std::size_t first = std::string::npos;
    std::size_t which = 0;
    for (std::size_t idx = 0; idx < tags_.size(); ++idx) {
      const std::size_t found = tags_[idx].id ? std::string::npos : held_.find(tags_[idx].text);
      if (found < first) {
        first = found;
        which = idx;
      }
    }
    if (first == std::string::npos) {
      break;
    }
    if (first > 0) {
      out.push_back({.text = held_.substr(0, first)});
    }
    out.push_back({.tag_idx = which});
    held_.erase(0, first + tags_[which].text.size());
  }
  const std::size_t certain = held_.size() - held_back();
  if (certain > 0) {
    out.push_back({.text = held_.substr(0, certain)});
    held_.erase(0, certain);
  }
}

// How much of the end may be the beginning of a tag.
std::size_t TagScanner::held_back() const {
  std::size_t longest = 0;
  for (const Tag& tag : tags_) {
    if (tag.id) {
      continue;
    }
    for (std::size_t size = std::min(tag.text.size() - 1, held_.size()); size > longest; --size) {
      if (std::string_view(held_).ends_with(std::string_view(tag.text).substr(0, size))) {
        longest = size;
        break;
      }
    }
  }
  return longest;
}

}  // namespace rapt::jinja
