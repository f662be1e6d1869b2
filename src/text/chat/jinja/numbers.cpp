#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "text/chat/jinja/numbers_internal.h"
#include "text/chat/jinja/unicode_internal.h"

namespace rapt::jinja {

namespace {

std::string_view without_spaces(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const CodePoint c = code_point_at(text, begin);
    if (!is_space(c.value)) {
      break;
    }
    begin += c.num_bytes;
  }
  std::size_t end = text.size();
  while (end > begin) {
    const std::size_t last = begin_of_previous(text, end);
    if (!is_space(code_point_at(text, last).value)) {
      break;
    }
    end = last;
  }
  return text.substr(begin, end - begin);
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'z') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

int prefix_base(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') {
    return 0;
  }
  switch (text[1] | 0x20) {
    case 'x':
      return 16;
    case 'o':
      return 8;
    case 'b':
      return 2;
    default:
      return 0;
  }
}

// "_" may stand between two digits only.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool is_between = i > 0 && i + 1 < text.size() && digit_value(text[i - 1]) < 36 &&
                            digit_value(text[i + 1]) < 36;
    if (!is_between) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

std::string int_text(Int value) {
  using Unsigned = unsigned __int128;
  Unsigned rest = value < 0 ? -static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) {
    digits += '-';
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string float_text(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char scientific[40];
  const auto written = std::to_chars(
      scientific, scientific + sizeof(scientific), value, std::chars_format::scientific
  );
  const std::string_view all(scientific, static_cast<std::size_t>(written.ptr - scientific));
  const std::size_t e = all.find('e');
  int exponent = 0;
  const char* exponent_begin = all.data() + e + (all[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_begin, all.data() + all.size(), exponent);
  std::string digits;
  for (const char c : all.substr(0, e)) {
    if (c >= '0' && c <= '9') {
      digits += c;
    }
  }
  const std::string sign = all[0] == '-' ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const std::string magnitude = std::to_string(std::abs(exponent));
    return sign + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") +
           (exponent < 0 ? "e-" : "e+") + (magnitude.size() < 2 ? "0" : "") + magnitude;
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto num_whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= num_whole) {
    return sign + digits + std::string(num_whole - digits.size(), '0') + ".0";
  }
  return sign + digits.substr(0, num_whole) + "." + digits.substr(num_whole);
}

std::optional<Int> parse_int(std::string_view text, int base, bool& overflowed) {
  overflowed = false;
  text = without_spaces(text);
  const bool is_negative = !text.empty() && text[0] == '-';
  if (is_negative || (!text.empty() && text[0] == '+')) {
    text.remove_prefix(1);
  }
  const int prefix = prefix_base(text);
  const bool has_prefix = prefix != 0 && (base == 0 || base == prefix);
  if (has_prefix) {
    text.remove_prefix(2);
    if (!text.empty() && text[0] == '_') {
      text.remove_prefix(1);
    }
  }
  const int used_base = base != 0 ? base : (has_prefix ? prefix : 10);
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits || digits->empty()) {
    return std::nullopt;
  }
  const bool is_zero = digits->find_first_not_of('0') == std::string::npos;
  if (base == 0 && !has_prefix && (*digits)[0] == '0' && !is_zero) {
    return std::nullopt;
  }
  Int value = 0;
  for (const char c : *digits) {
    const int digit = digit_value(c);
    if (digit >= used_base) {
      return std::nullopt;
    }
    overflowed = overflowed || __builtin_mul_overflow(value, Int{used_base}, &value) ||
                 __builtin_add_overflow(value, Int{digit}, &value);
  }
  return is_negative ? -value : value;
}

std::optional<double> parse_float(std::string_view text) {
  text = without_spaces(text);
  const bool is_negative = !text.empty() && text[0] == '-';
  if (is_negative || (!text.empty() && text[0] == '+')) {
    text.remove_prefix(1);
  }
  std::string lower;
  for (const char c : text) {
    lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  }
  const double sign = is_negative ? -1.0 : 1.0;
  if (lower == "inf" || lower == "infinity") {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (lower == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::optional<std::string> digits = without_underscores(lower);
  if (!digits || digits->empty() || ((*digits)[0] != '.' && digit_value((*digits)[0]) > 9)) {
    return std::nullopt;
  }
  double value = 0.0;
  const char* end = digits->data() + digits->size();
  const auto [stop, status] = std::from_chars(digits->data(), end, value);
  if (stop != end || status == std::errc::invalid_argument) {
    return std::nullopt;
  }
  if (status == std::errc::result_out_of_range) {
    const bool is_small = digits->find("e-") != std::string::npos;
    value = is_small ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return sign * value;
}

}  // namespace rapt::jinja
