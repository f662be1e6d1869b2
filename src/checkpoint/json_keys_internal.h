#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rapt {

// The first key that some object of a valid JSON text has twice. The parser keeps the last of two
// and tells nobody, which would let a checkpoint name one tensor twice.
std::optional<std::string> find_duplicate_key(std::string_view valid_json);

}  // namespace rapt
