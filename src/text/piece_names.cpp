#include <charconv>

#include "text/piece_names_internal.h"

namespace rapt {

std::optional<std::uint8_t> byte_of_piece(std::string_view name) {
  constexpr std::string_view kBegin = "<0x";
  if (name.size() != kBegin.size() + 3 || !name.starts_with(kBegin) || name.back() != '>') {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(kBegin.size(), 2);
  const bool is_upper = digits.find_first_not_of("0123456789ABCDEF") == std::string_view::npos;
  std::uint8_t byte = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  return is_upper ? std::optional(byte) : std::nullopt;
}

}  // namespace rapt
