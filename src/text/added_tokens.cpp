#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "text/added_tokens_internal.h"

namespace rapt {

namespace {

std::int32_t code_point_at(std::string_view utf8, std::size_t pos) {
  utf8proc_int32_t code_point = -1;
  utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()) + pos,
      static_cast<utf8proc_ssize_t>(utf8.size() - pos),
      &code_point
  );
  return code_point;
}

// Where the character that ends at `end` begins; `end` must not be 0.
std::size_t previous_character(std::string_view utf8, std::size_t end) {
  std::size_t pos = end - 1;
  while (pos > 0 && (static_cast<std::uint8_t>(utf8[pos]) & 0xC0U) == 0x80U) {
    --pos;
  }
  return pos;
}

bool is_white_space(std::int32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

// What regular expressions call \w (Unicode's technical standard 18, annex C), as far as utf8proc's
// tables know it.
bool is_word_character(std::int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      // Letters in circles and squares, and the joiners.
      return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189) || c == 0x200C ||
             c == 0x200D;
  }
}

bool ends_inside_word(std::string_view before) {
  return !before.empty() &&
         is_word_character(code_point_at(before, previous_character(before, before.size())));
}

bool begins_inside_word(std::string_view behind) {
  return !behind.empty() && is_word_character(code_point_at(behind, 0));
}

// Where the white space that ends at `end` begins, but not before `floor`.
std::size_t white_space_begin(std::string_view text, std::size_t end, std::size_t floor) {
  while (end > floor) {
    const std::size_t pos = previous_character(text, end);
    if (!is_white_space(code_point_at(text, pos))) {
      break;
    }
    end = pos;
  }
  return end;
}

std::size_t white_space_end(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_white_space(code_point_at(text, begin))) {
    ++begin;
    while (begin < text.size() && (static_cast<std::uint8_t>(text[begin]) & 0xC0U) == 0x80U) {
      ++begin;
    }
  }
  return begin;
}

}  // namespace

AddedTokenCutter::AddedTokenCutter(std::vector<AddedToken> tokens) {
  std::vector<NameMatcher::Name> names;
  for (AddedToken& token : tokens) {
    if (token.in_text != AddedToken::InText::kNever) {
      names.push_back({token.name, static_cast<TokenId>(tokens_.size())});
      tokens_.push_back(std::move(token));
    }
  }
  matcher_ = NameMatcher(std::move(names));
}

std::vector<AddedTokenCutter::Part> AddedTokenCutter::cut(
    std::string_view text, std::span<const TextRange> trusted
) const {
  std::vector<Part> parts;
  std::size_t num_cut = 0;
  std::size_t search_from = 0;
  std::size_t range_idx = 0;
  while (const auto match = matcher_.find(text, search_from)) {
    search_from = match->end;
    const AddedToken& token = tokens_[static_cast<std::size_t>(match->id)];
    while (range_idx < trusted.size() && trusted[range_idx].end < match->end) {
      ++range_idx;
    }
    const bool is_trusted = range_idx < trusted.size() && trusted[range_idx].begin <= match->begin;
    if (token.in_text == AddedToken::InText::kWhenAllowed && !is_trusted) {
      // One that reaches into trusted text must not hide a token that begins there.
      if (range_idx < trusted.size() && trusted[range_idx].begin < match->end) {
        search_from = match->begin + 1;
      }
      continue;
    }
    if (token.is_single_word && (ends_inside_word(text.substr(0, match->begin)) ||
                                 begins_inside_word(text.substr(match->end)))) {
      continue;
    }
    std::size_t begin = match->begin;
    if (token.lstrip) {
      begin = white_space_begin(text, begin, num_cut);
    }
    std::size_t end = match->end;
    if (token.rstrip) {
      // Up to `num_cut` a token before this one has swallowed white space already.
      end = white_space_end(text, std::max(end, num_cut));
    }
    if (begin > num_cut) {
      parts.push_back({text.substr(num_cut, begin - num_cut), kPlainText});
    }
    parts.push_back({text.substr(begin, end - begin), token.id});
    num_cut = end;
  }
  if (num_cut < text.size()) {
    parts.push_back({text.substr(num_cut), kPlainText});
  }
  return parts;
}

}  // namespace rapt
