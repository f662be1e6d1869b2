#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rapt {

// The whole of a small text file, or of a pipe such as /dev/stdin (checkpoint/text_file.h maps
// files and so takes no pipes). `what` names it in errors ("--config").
Result<std::string> read_input_file(const std::string& path, std::string_view what);

}  // namespace rapt
