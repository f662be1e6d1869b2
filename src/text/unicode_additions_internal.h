#pragma once

#include <span>
#include <string_view>

namespace rapt {

// The characters that a Unicode category has gained since the version of PCRE2's tables.
struct UnicodeAddition {
  std::string_view category;  // "L", "Lu", ...
  std::string_view ranges;    // as the inside of a regular expression's character class
};

std::span<const UnicodeAddition> unicode_additions();

}  // namespace rapt
