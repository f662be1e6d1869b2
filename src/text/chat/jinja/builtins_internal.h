#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/jinja/callable_internal.h"

// All that a template can call without having made it: filters, tests, methods and globals.

namespace rapt::jinja {

// By name; null when there is none.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
// The method that a value of this type has in Python, if it changes nothing.
const Builtin* find_method(const Value& self, std::string_view name);
// Whether Python has a method of that name that changes its object: the sandbox hides those.
bool is_changing_method(const Value& self, std::string_view name);

// The global of that name (range, dict, namespace, cycler, joiner, raise_exception, and
// strftime_now when there is a date); nothing when there is none.
std::optional<Value> find_global(std::string_view name, bool has_date);

}  // namespace rapt::jinja
