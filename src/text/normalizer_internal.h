#pragma once

#include <string>
#include <string_view>

namespace rapt {

// Unicode's normalization form C of valid UTF-8, as the tokenizers of Qwen apply it before they
// split a text. It is the reference library's form, whose tables are those of Unicode 9: marks that
// are younger stay where they stand.
std::string to_nfc(std::string_view utf8);

}  // namespace rapt
