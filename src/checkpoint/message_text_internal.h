#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

// Text from a file, fit for a message: in quotes, control characters escaped, cut when it is long.
std::string in_quotes(std::string_view text);

// The same for a JSON value of any kind.
std::string shown_json(const json::value& value);

// Why the system refused `path`, from an errno.
Error path_error(const std::string& path, int error_number);

// The error of a damaged JSON text counts as a bad file here, not as a caller's argument.
Error as_bad_file(Error error);

}  // namespace rapt
