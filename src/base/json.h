#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rapt {

namespace json = boost::json;

// Parses one JSON text (UTF-8 checked, keys in their order, nesting at most `max_depth`). The error
// says where and why; `what` names the text in it ("config.json", "the request body"). Numbers that
// do not fit a double are refused.
Result<json::value> parse_json(std::string_view text, std::string_view what, int max_depth = 64);

// Compact JSON. Doubles in their shortest form; a double that is not finite becomes null.
std::string to_json_text(const json::value& value);
void append_json_text(std::string& out, const json::value& value);
void append_json_string(std::string& out, std::string_view utf8);

// "a string", "an integer", ...: for messages that say what was found.
std::string_view json_kind_name(const json::value& value);

}  // namespace rapt
