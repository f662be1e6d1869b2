#pragma once

#include <string>

#include "base/json.h"

namespace rapt {

// A JSON schema as the type that gpt-oss was trained to read, close to TypeScript. Every quirk is
// part of the format: comments that repeat, odd indents, no quotes around names. Whatever the
// rules do not know (anyOf, $ref, ...) is "any". Appends to `out`.
void append_harmony_type(std::string& out, const json::value& schema);

// Compact JSON as it stands in those types: like append_json_text, but for numbers with a fraction
// or an exponent, which look like 0.5, 100000.0 or 1e-7.
void append_harmony_json(std::string& out, const json::value& value);

}  // namespace rapt
