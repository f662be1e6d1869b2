#pragma once

#include <string_view>

#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

// a + b and so on, for the signs + - * / // % **, with Python's meaning for each pair of types.
Result<Value> arithmetic(std::string_view sign, const Value& a, const Value& b);
Result<Value> negative(const Value& value);
Result<Value> positive(const Value& value);

// a < b and so on, for the signs == != < <= > >= in, not in.
Result<bool> compare(std::string_view sign, const Value& a, const Value& b);

Error int_overflow();

}  // namespace rapt::jinja
