#pragma once

#include <cstdio>
#include <functional>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

// Makes the answer to one line's value. An Error refuses this line only.
using JsonLineAnswer = std::function<Result<json::value>(const json::value& line)>;

// The loop of commands that other programs drive through pipes: one JSON value a line in, one a
// line out, in order and flushed line by line, so that a caller may wait for each answer. A line
// that is no JSON, or that `answer` refuses, is answered by {"error": "..."}, and the loop goes on.
// Ends at the end of `in`; an Error only when reading or writing itself fails.
Result<void> answer_json_lines(std::FILE* in, std::FILE* out, const JsonLineAnswer& answer);

}  // namespace rapt
