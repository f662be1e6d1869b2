#pragma once

#include <optional>
#include <string>
#include <string_view>

// Numbers as Python writes and reads them.

namespace rapt::jinja {

// Python's whole numbers have no end; 128 bits hold all that JSON and templates bring, and what
// does not fit is an error.
using Int = __int128;

std::string int_text(Int value);
// repr(): the shortest digits that give the same double; 1.0, 1e+16, 1e-05, inf, nan.
std::string float_text(double value);

// int(text, base): blanks around, a sign, "_" between digits; a prefix where the base allows one
// (base 0 reads it). Nothing when the text is no number; `overflowed` when it is too large a one.
std::optional<Int> parse_int(std::string_view text, int base, bool& overflowed);
// float(text), with "inf" and "nan".
std::optional<double> parse_float(std::string_view text);

}  // namespace rapt::jinja
