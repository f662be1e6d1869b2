#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "text/special_tokens_internal.h"

namespace rapt {

NameMatcher::NameMatcher(std::vector<Name> names) : names_(std::move(names)) {
  std::stable_sort(names_.begin(), names_.end(), [](const Name& a, const Name& b) {
    return a.text < b.text;
  });
  const auto same = [](const Name& a, const Name& b) { return a.text == b.text; };
  names_.erase(std::unique(names_.begin(), names_.end(), same), names_.end());
  for (const Name& name : names_) {
    CHECK(!name.text.empty(), "token ", name.id, " has an empty name");
    can_begin_[static_cast<std::uint8_t>(name.text.front())] = true;
  }
}

std::optional<NameMatcher::Match> NameMatcher::longest_at(std::string_view text, std::size_t begin)
    const {
  // Narrows the sorted names, character by character, to those that agree with the text.
  std::optional<Match> best;
  auto first = names_.begin();
  auto last = names_.end();
  for (std::size_t depth = 0; first != last; ++depth) {
    if (first->text.size() == depth) {
      best = Match{begin, begin + depth, first->id};
      ++first;
    }
    if (begin + depth == text.size()) {
      break;
    }
    const char wanted = text[begin + depth];
    const auto comes_before = [depth](const Name& name, char c) {
      return static_cast<std::uint8_t>(name.text[depth]) < static_cast<std::uint8_t>(c);
    };
    const auto comes_after = [depth](char c, const Name& name) {
      return static_cast<std::uint8_t>(c) < static_cast<std::uint8_t>(name.text[depth]);
    };
    first = std::lower_bound(first, last, wanted, comes_before);
    last = std::upper_bound(first, last, wanted, comes_after);
  }
  return best;
}

std::optional<NameMatcher::Match> NameMatcher::find(std::string_view text, std::size_t from) const {
  if (names_.empty()) {
    return std::nullopt;
  }
  for (std::size_t pos = from; pos < text.size(); ++pos) {
    if (!can_begin_[static_cast<std::uint8_t>(text[pos])]) {
      continue;
    }
    if (const auto match = longest_at(text, pos)) {
      return match;
    }
  }
  return std::nullopt;
}

std::optional<TokenId> NameMatcher::find_exact(std::string_view name) const {
  const auto match = longest_at(name, 0);
  if (!match || match->end != name.size()) {
    return std::nullopt;
  }
  return match->id;
}

}  // namespace rapt
