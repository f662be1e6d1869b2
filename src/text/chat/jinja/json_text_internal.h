#pragma once

#include <optional>

#include "base/json.h"
#include "text/chat/jinja/value_internal.h"

// JSON and values.

namespace rapt::jinja {

// Strings of the value, keys too, are marked as `origin`.
Value value_of(const json::value& json, Origin origin);

// How Python's json.dumps is told to write.
struct JsonStyle {
  bool ascii_only = false;
  bool sorts_keys = false;
  std::optional<MarkedText> indent = {};  // one level's; nothing: all in one line
  MarkedText item_separator = MarkedText(", ", Origin::kTemplate);
  MarkedText key_separator = MarkedText(": ", Origin::kTemplate);
};

class Runtime;

// A text, byte for byte as Python writes it. An error when it would grow too large. The caller
// charges for the text.
Result<Value> to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace rapt::jinja
