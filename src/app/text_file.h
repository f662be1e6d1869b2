#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rapt {

// The whole of a small text file. `what` names it in errors ("--config").
Result<std::string> read_text_file(const std::string& path, std::string_view what);

}  // namespace rapt
