#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

// Reads the small companions of the weights: config.json, tokenizer.json and their kind. Errors
// name the file and the cause; a file longer than `max_bytes` is refused.
Result<std::string> read_text_file(
    const std::string& path, std::int64_t max_bytes = std::int64_t{256} << 20
);
Result<json::value> read_json_file(const std::string& path);

}  // namespace rapt
