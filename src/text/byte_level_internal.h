#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rapt {

// tokenizer.json and GGUF write a token's bytes in an alphabet of 256 printable characters: bytes
// that are printable in Latin-1 stand for themselves, the others, in ascending order, are U+0100
// and up ("Ġ" is the blank, "Ċ" the line feed). Nothing when a character is not of that alphabet.
std::optional<std::string> bytes_of_byte_level(std::string_view utf8);
// The same, appended to `bytes`; false, and `bytes` as it was, when there is such a character.
bool append_bytes_of_byte_level(std::string_view utf8, std::string& bytes);

}  // namespace rapt
