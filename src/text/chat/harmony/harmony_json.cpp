#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "text/chat/harmony/harmony_schema_internal.h"

namespace rapt {

namespace {

// The shortest digits that read back as `number`. Between 1e-5 and 1e16 with a decimal point and
// at least one digit behind it, elsewhere with an exponent.
void append_double(std::string& out, double number) {
  constexpr int kFirstExponent = -5;
  constexpr int kLastExponent = 15;
  std::array<char, 32> buffer{};
  const auto [end, status] = std::to_chars(
      buffer.data(), buffer.data() + buffer.size(), std::fabs(number), std::chars_format::scientific
  );
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t mark = text.find('e');
  int exponent = 0;
  const std::size_t sign = text[mark + 1] == '+' ? 1 : 0;
  std::from_chars(text.data() + mark + 1 + sign, end, exponent);
  std::string digits(1, text[0]);
  if (mark > 1) {
    digits += text.substr(2, mark - 2);
  }
  out += std::signbit(number) ? "-" : "";
  if (exponent < kFirstExponent || exponent > kLastExponent) {
    out += digits[0];
    if (digits.size() > 1) {
      out += "." + digits.substr(1);
    }
    out += "e" + std::to_string(exponent);
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else {
    const auto num_whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= num_whole) {
      out += digits + std::string(num_whole - digits.size(), '0') + ".0";
    } else {
      out += digits.substr(0, num_whole) + "." + digits.substr(num_whole);
    }
  }
}

}  // namespace

void append_harmony_json(std::string& out, const json::value& value) {
  if (const double* number = value.if_double()) {
    append_double(out, *number);
  } else if (const json::array* items = value.if_array()) {
    char before = '[';
    for (const json::value& item : *items) {
      out += before;
      append_harmony_json(out, item);
      before = ',';
    }
    out += items->empty() ? "[]" : "]";
  } else if (const json::object* members = value.if_object()) {
    char before = '{';
    for (const auto& member : *members) {
      out += before;
      append_json_string(out, member.key());
      out += ':';
      append_harmony_json(out, member.value());
      before = ',';
    }
    out += members->empty() ? "{}" : "}";
  } else {
    append_json_text(out, value);
  }
}

}  // namespace rapt
