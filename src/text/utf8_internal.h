#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rapt {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

enum class Utf8Kind {
  kCharacter,   // one well-formed character
  kInvalid,     // a maximal stretch that no character begins with; becomes one U+FFFD
  kIncomplete,  // the text ends inside a character that may still become well-formed
};

struct Utf8Step {
  Utf8Kind kind = Utf8Kind::kCharacter;
  std::size_t num_bytes = 0;
};

// What stands at `bytes[pos]`; `pos` must be inside. Never longer than four bytes.
Utf8Step utf8_step(std::string_view bytes, std::size_t pos);

// Appends `bytes` to `out` with each invalid stretch replaced by U+FFFD, as WHATWG's decoder does.
// Returns where an incomplete character begins (it is not appended), or bytes.size().
std::size_t append_lossy(std::string_view bytes, std::string& out);

bool is_valid_utf8(std::string_view bytes);

// The whole text with invalid stretches, an incomplete end too, replaced by U+FFFD.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace rapt
