#pragma once

#include <string_view>

#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

class Runtime;

// a + b and so on, for the signs + - * / // % **, with Python's meaning for each pair of types. The
// caller charges for the result.
Result<Value> arithmetic(Runtime& runtime, std::string_view sign, const Value& a, const Value& b);
Result<Value> negative(const Value& value);
Result<Value> positive(const Value& value);

// a < b and so on, for the signs == != < <= > >= in, not in.
Result<bool> compare(Runtime& runtime, std::string_view sign, const Value& a, const Value& b);

Error int_overflow();

}  // namespace rapt::jinja
