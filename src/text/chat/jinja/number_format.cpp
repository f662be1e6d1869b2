#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/chat/jinja/number_format_internal.h"

namespace rapt::jinja {

namespace {

std::string in_base(unsigned __int128 rest, unsigned base, bool upper) {
  const char* alphabet = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do {
    digits += alphabet[static_cast<unsigned>(rest % base)];
    rest /= base;
  } while (rest != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

// Separators between groups, in what stands before the point.
std::string grouped(const std::string& digits, char separator, std::size_t group_size) {
  const std::size_t num_whole =
      std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < num_whole; ++i) {
    if (i > 0 && (num_whole - i) % group_size == 0) {
      out += separator;
    }
    out += digits[i];
  }
  return out + digits.substr(num_whole);
}

std::string in_field(const std::string& sign, std::string digits, const NumberStyle& style) {
  const bool is_hex_like = style.type != 'd' && style.type <= 'x' &&
                           std::string_view("boxX").find(style.type) != std::string_view::npos;
  const std::size_t group_size = is_hex_like ? 4 : 3;
  if (style.align == '=' && style.fill == "0" && style.group != '\0') {
    // Zeros are grouped too.
    const std::size_t num_whole =
        std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
    // Of `room` characters every group but the first takes one for its separator; where that would
    // be the first of all, a zero more stands before it.
    const std::size_t around = sign.size() + digits.size() - num_whole;
    const auto width = static_cast<std::size_t>(style.width);
    const std::size_t room = width > around ? width - around : 0;
    const bool would_begin_so = room > 0 && room % (group_size + 1) == 0;
    const std::size_t num_digits = room - room / (group_size + 1) + (would_begin_so ? 1 : 0);
    const std::string zeros(num_digits > num_whole ? num_digits - num_whole : 0, '0');
    return sign + grouped(zeros + digits, style.group, group_size);
  }
  if (style.group != '\0') {
    digits = grouped(digits, style.group, group_size);
  }
  const auto used = static_cast<int>(sign.size() + digits.size());
  const int missing = std::max(style.width - used, 0);
  const int left = style.align == '<' ? 0 : style.align == '^' ? missing / 2 : missing;
  std::string before;
  std::string behind;
  for (int i = 0; i < missing; ++i) {
    (i < left ? before : behind) += style.fill;
  }
  return style.align == '=' ? sign + before + digits : before + sign + digits + behind;
}

std::string sign_text(bool is_negative, char sign) {
  return is_negative ? "-" : (sign == '-' ? "" : std::string(1, sign));
}

}  // namespace

std::string format_int(Int value, const NumberStyle& style) {
  const bool is_negative = value < 0;
  const auto bits = static_cast<unsigned __int128>(value);
  const unsigned __int128 magnitude = is_negative ? -bits : bits;
  std::string prefix = sign_text(is_negative, style.sign);
  unsigned base = 10;
  switch (style.type) {
    case 'b':
      base = 2;
      break;
    case 'o':
      base = 8;
      break;
    case 'x':
    case 'X':
      base = 16;
      break;
    default:
      break;
  }
  if (style.is_alternate && base != 10) {
    prefix += std::string("0") + style.type;
  }
  return in_field(prefix, in_base(magnitude, base, style.type == 'X'), style);
}

std::string format_float(double value, const NumberStyle& style) {
  const std::string sign = sign_text(std::signbit(value) && !std::isnan(value), style.sign);
  const bool is_upper = style.type == 'F' || style.type == 'E' || style.type == 'G';
  if (!std::isfinite(value)) {
    const char* name = std::isnan(value) ? (is_upper ? "NAN" : "nan") : (is_upper ? "INF" : "inf");
    NumberStyle plain = style;
    plain.group = '\0';
    return in_field(sign, name, plain);
  }
  const int precision = style.precision < 0 ? 6 : style.precision;
  const char format[] = {
      '%',
      style.is_alternate ? '#' : '.',
      style.is_alternate ? '.' : '*',
      style.is_alternate ? '*' : style.type,
      style.is_alternate ? style.type : '\0',
      '\0'};
  char text[800];
  std::snprintf(text, sizeof(text), format, precision, std::fabs(value));
  return in_field(sign, text, style);
}

Result<int> read_format_number(std::string_view text, std::size_t& pos, int max) {
  int number = 0;
  while (pos < text.size() && text[pos] >= '0' && text[pos] <= '9') {
    number = number * 10 + (text[pos++] - '0');
    if (number > max) {
      return invalid_argument("a width or precision above " + std::to_string(max));
    }
  }
  return number;
}

}  // namespace rapt::jinja
