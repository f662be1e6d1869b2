#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "text/chat/jinja/marked_text_internal.h"
#include "text/chat/jinja/numbers_internal.h"

// What the two ways to format, "%05d" and "{:05d}", have in common.

namespace rapt::jinja {

struct NumberStyle {
  char type = 'd';     // d b o x X, or e E f F g G
  int precision = -1;  // -1: none given
  char sign = '-';     // '+', ' ' or '-': what stands before a number that is not negative
  bool is_alternate = false;
  char group = '\0';  // ',' or '_' between groups of digits
  std::string fill = " ";
  char align = '>';  // '<' '>' '^' '=': where the number stands in its field
  int width = 0;
};

// Wider fields and more digits than this are refused.
inline constexpr int kMaxFormatWidth = 1'000'000;
inline constexpr int kMaxFormatPrecision = 400;

// What a conversion costs beside its text: writing a float with hundreds of digits is slow.
inline constexpr std::uint64_t kStepsAConversion = 20;

std::string format_int(Int value, const NumberStyle& style);
std::string format_float(double value, const NumberStyle& style);

// A width or a precision, read from digits at `pos`; 0 where there are none.
Result<int> read_format_number(std::string_view text, std::size_t& pos, int max);

}  // namespace rapt::jinja
