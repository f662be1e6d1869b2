#include <utf8proc.h>

#include <bit>
#include <cstring>

#include "text/chat/jinja/unicode_internal.h"

namespace rapt::jinja {

namespace {

constexpr std::uint32_t kSharpS = 0xDF;

utf8proc_category_t category(std::uint32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

CodePoint code_point_at(std::string_view utf8, std::size_t pos) {
  const auto byte = [&](std::size_t i) {
    return pos + i < utf8.size() ? static_cast<unsigned char>(utf8[pos + i]) : 0U;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1};
  }
  if (lead < 0xE0) {
    return {(lead & 0x1FU) << 6 | (byte(1) & 0x3FU), 2};
  }
  if (lead < 0xF0) {
    return {(lead & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU), 3};
  }
  return {
      (lead & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 | (byte(2) & 0x3FU) << 6 | (byte(3) & 0x3FU),
      4};
}

std::size_t begin_of_previous(std::string_view utf8, std::size_t end) {
  std::size_t pos = end - 1;
  while (pos > 0 && is_continuation(utf8[pos])) {
    --pos;
  }
  return pos;
}

std::size_t num_code_points(std::string_view utf8) {
  // Eight bytes at once: those that begin with the bits 10 begin no character.
  constexpr std::uint64_t kEachByte = 0x0101010101010101ULL;
  std::size_t count = 0;
  while (utf8.size() >= sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, utf8.data(), sizeof(bytes));
    count += static_cast<std::size_t>(std::popcount((~bytes >> 7U | bytes >> 6U) & kEachByte));
    utf8.remove_prefix(sizeof(bytes));
  }
  for (const char byte : utf8) {
    count += is_continuation(byte) ? 0 : 1;
  }
  return count;
}

std::size_t byte_offset(std::string_view utf8, std::size_t idx) {
  constexpr std::size_t kBlock = 256;
  std::size_t pos = 0;
  while (pos + kBlock <= utf8.size()) {
    const std::size_t count = num_code_points(utf8.substr(pos, kBlock));
    if (count > idx) {
      break;
    }
    idx -= count;
    pos += kBlock;
  }
  while (pos < utf8.size() && is_continuation(utf8[pos])) {
    ++pos;
  }
  for (; idx > 0 && pos < utf8.size(); --idx) {
    pos += code_point_at(utf8, pos).num_bytes;
  }
  return pos;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

bool is_space(std::uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_line_end(std::uint32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_printable(std::uint32_t code_point) {
  if (code_point == ' ') {
    return true;
  }
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_alpha(std::uint32_t code_point) {
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return true;
    default:
      return false;
  }
}

bool is_decimal(std::uint32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(std::uint32_t c) {
  return is_decimal(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 ||
         (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089) ||
         (c >= 0x2460 && c <= 0x2468);
}

bool is_numeric(std::uint32_t code_point) {
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

bool is_upper(std::uint32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_LU;
}

bool is_lower(std::uint32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_LL || code_point == 0xAA || code_point == 0xBA;
}

bool is_title(std::uint32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_LT;
}

std::string in_case(std::uint32_t code_point, Case wanted) {
  if (code_point == kSharpS && wanted != Case::kLower) {
    return wanted == Case::kUpper ? "SS" : (wanted == Case::kTitle ? "Ss" : "ss");
  }
  const auto from = static_cast<utf8proc_int32_t>(code_point);
  utf8proc_int32_t to = from;
  switch (wanted) {
    case Case::kLower:
    case Case::kFold:
      to = utf8proc_tolower(from);
      break;
    case Case::kUpper:
      to = utf8proc_toupper(from);
      break;
    case Case::kTitle:
      to = utf8proc_totitle(from);
      break;
  }
  std::string out;
  append_utf8(out, static_cast<std::uint32_t>(to));
  return out;
}

}  // namespace rapt::jinja
