#include <array>
#include <cstdint>
#include <utility>

#include "text/byte_level_internal.h"

namespace rapt {

namespace {

constexpr int kAlphabetEnd = 0x100 + 68;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

// [code point]: the byte it stands for, or -1.
constexpr std::array<std::int16_t, kAlphabetEnd> make_alphabet() {
  std::array<std::int16_t, kAlphabetEnd> alphabet{};
  alphabet.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const int code_point = stands_for_itself(byte) ? byte : next++;
    alphabet[static_cast<std::size_t>(code_point)] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr std::array<std::int16_t, kAlphabetEnd> kAlphabet = make_alphabet();

}  // namespace

bool append_bytes_of_byte_level(std::string_view utf8, std::string& bytes) {
  const std::size_t size_before = bytes.size();
  for (std::size_t pos = 0; pos < utf8.size();) {
    // The whole alphabet lies below U+0800: one or two bytes a character.
    const auto lead = static_cast<std::uint8_t>(utf8[pos]);
    std::size_t code_point = lead;
    bool is_whole = true;
    if (lead >= 0x80) {
      is_whole = (lead & 0xE0) == 0xC0 && pos + 1 < utf8.size();
      code_point =
          is_whole ? ((lead & 0x1FU) << 6) | (static_cast<std::uint8_t>(utf8[pos + 1]) & 0x3FU) : 0;
    }
    pos += lead >= 0x80 ? 2 : 1;
    if (!is_whole || code_point >= kAlphabet.size() || kAlphabet[code_point] < 0) {
      bytes.resize(size_before);
      return false;
    }
    bytes += static_cast<char>(kAlphabet[code_point]);
  }
  return true;
}

std::optional<std::string> bytes_of_byte_level(std::string_view utf8) {
  std::string bytes;
  bytes.reserve(utf8.size());
  return append_bytes_of_byte_level(utf8, bytes) ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace rapt
