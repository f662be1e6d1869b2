#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "text/chat/jinja/value_internal.h"

// How Python compares.

namespace rapt::jinja {

// a == b: numbers by value whatever their type, lists and dicts by their parts.
bool equals(const Value& a, const Value& b);

// a < b. An error names the types that have no order.
Result<bool> is_less(const Value& a, const Value& b);
// a <= b, which is not "not b < a" where there is a NaN.
Result<bool> is_less_or_equal(const Value& a, const Value& b);

// `item in container`.
Result<bool> contains(const Value& container, const Value& item);

// Equal values have equal hashes; nothing for lists and dicts, which have none.
std::optional<std::size_t> hash_of(const Value& value);
std::size_t hash_of_text(std::string_view bytes);

}  // namespace rapt::jinja
