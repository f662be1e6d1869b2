#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rapt {

// A tokenizer's split pattern in the words of PCRE2, so that it matches what the tokenizers match:
// \s is Unicode's White_Space (PCRE2 counts U+180E in), and \p{...} takes in the characters that
// are younger than PCRE2's tables.
Result<std::string> to_pcre2_pattern(std::string_view pattern);

}  // namespace rapt
