#include <cstddef>
#include <cstdint>
#include <optional>

#include "text/chat/jinja/string_literal_internal.h"
#include "text/chat/jinja/unicode_internal.h"

namespace rapt::jinja {

namespace {

std::optional<char> simple_escape(char c) {
  constexpr std::string_view kNames = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t found = kNames.find(c);
  return found == std::string_view::npos ? std::nullopt : std::optional<char>(kMeanings[found]);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::size_t num_hex_digits(char kind) {
  return kind == 'x' ? 2 : (kind == 'u' ? 4 : (kind == 'U' ? 8 : 0));
}

}  // namespace

Result<std::string> read_string_literal(std::string_view inner) {
  std::string out;
  for (std::size_t pos = 0; pos < inner.size(); ++pos) {
    if (inner[pos] != '\\' || pos + 1 >= inner.size()) {
      out += inner[pos];
      continue;
    }
    const char kind = inner[++pos];
    if (kind == '\n') {
      continue;  // the line goes on
    }
    if (const auto meaning = simple_escape(kind)) {
      out += *meaning;
      continue;
    }
    std::uint32_t code_point = 0;
    if (kind >= '0' && kind <= '7') {
      std::size_t end = pos;
      while (end < inner.size() && end < pos + 3 && inner[end] >= '0' && inner[end] <= '7') {
        code_point = code_point * 8 + static_cast<std::uint32_t>(inner[end++] - '0');
      }
      pos = end - 1;
    } else if (const std::size_t num_digits = num_hex_digits(kind); num_digits > 0) {
      for (std::size_t i = 1; i <= num_digits; ++i) {
        const int digit = pos + i < inner.size() ? hex_value(inner[pos + i]) : -1;
        if (digit < 0) {
          return invalid_argument(std::string("an escape \\") + kind + " lacks digits");
        }
        code_point = code_point * 16 + static_cast<std::uint32_t>(digit);
      }
      pos += num_digits;
    } else if (kind == 'N') {
      return invalid_argument("characters by name (\\N{...}) are not supported");
    } else {
      out += '\\';
      out += kind;
      continue;
    }
    if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
      return invalid_argument("an escape names no character");
    }
    append_utf8(out, code_point);
  }
  return out;
}

}  // namespace rapt::jinja
