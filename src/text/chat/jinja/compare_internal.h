#pragma once

#include <cstddef>
#include <string_view>

#include "text/chat/jinja/value_internal.h"

// How Python compares. What takes a Runtime charges it for what there is to read.

namespace rapt::jinja {

class Runtime;

// a == b: numbers by value whatever their type, lists and dicts by their parts.
bool equals(const Value& a, const Value& b);
Result<bool> are_equal(Runtime& runtime, const Value& a, const Value& b);

// As items of a list or keys of a dict: a number that is none equals itself there, for Python takes
// the same object for equal.
bool equal_as_items(const Value& a, const Value& b);

// a < b. An error names the types that have no order.
Result<bool> less(const Value& a, const Value& b);
Result<bool> is_less(Runtime& runtime, const Value& a, const Value& b);
// a <= b, which is not "not b < a" where there is a NaN.
Result<bool> is_less_or_equal(Runtime& runtime, const Value& a, const Value& b);

// `item in container`.
Result<bool> contains(Runtime& runtime, const Value& container, const Value& item);

// Charges for looking for `wanted` among `items`.
Result<void> charge_item_search(Runtime& runtime, const Value& items, const Value& wanted);

}  // namespace rapt::jinja
