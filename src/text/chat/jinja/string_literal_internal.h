#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rapt::jinja {

// What a string in a template means, given what stands between its quotes: Python's escapes (\n,
// \x41, \u00e9, \U0001F600, octal); an unknown one stays as it is.
Result<std::string> read_string_literal(std::string_view inner);

}  // namespace rapt::jinja
