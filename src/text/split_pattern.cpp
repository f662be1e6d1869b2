#include <optional>

#include "text/split_pattern_internal.h"
#include "text/unicode_additions_internal.h"

namespace rapt {

namespace {

// White_Space, as the inside of a character class.
constexpr std::string_view kBlanks =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

// What an escape stands for: the inside of a character class, perhaps of a negated one.
struct Escape {
  std::size_t num_chars = 0;  // of the pattern, the backslash included
  bool is_negated = false;
  std::string members;
};

std::string_view additions_of(std::string_view category) {
  for (const UnicodeAddition& addition : unicode_additions()) {
    if (addition.category == category) {
      return addition.ranges;
    }
  }
  return {};
}

// The escape at the begin of `rest` if it is one that has to be spelled out.
std::optional<Escape> read_escape(std::string_view rest) {
  const char letter = rest.size() > 1 ? rest[1] : '\0';
  if (letter == 's' || letter == 'S') {
    return Escape{2, letter == 'S', std::string(kBlanks)};
  }
  if ((letter != 'p' && letter != 'P') || rest.size() < 3) {
    return std::nullopt;
  }
  const std::size_t end = rest[2] == '{' ? rest.find('}') : 2;
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view category = end == 2 ? rest.substr(2, 1) : rest.substr(3, end - 3);
  const std::string_view additions = additions_of(category);
  if (additions.empty()) {
    return std::nullopt;
  }
  return Escape{
      end + 1, letter == 'P', R"(\p{)" + std::string(category) + "}" + std::string(additions)};
}

}  // namespace

Result<std::string> to_pcre2_pattern(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  std::size_t pos = 0;
  while (pos < pattern.size()) {
    const char c = pattern[pos];
    if (c != '\\') {
      in_class = in_class ? c != ']' : c == '[';
      out += c;
      ++pos;
      continue;
    }
    const auto escape = read_escape(pattern.substr(pos));
    if (!escape) {
      out += pattern.substr(pos, 2);
      pos += 2;
      continue;
    }
    if (in_class && escape->is_negated) {
      return bad_file(
          "the split pattern '" + std::string(pattern) + "' has " +
          std::string(pattern.substr(pos, escape->num_chars)) +
          " inside a character class, which is not supported"
      );
    }
    out += in_class ? escape->members : (escape->is_negated ? "[^" : "[") + escape->members + "]";
    pos += escape->num_chars;
  }
  return out;
}

}  // namespace rapt
