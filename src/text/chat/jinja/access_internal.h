#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/chat/jinja/callable_internal.h"
#include "text/chat/jinja/value_internal.h"

// Attributes, items and iteration, with the rules of Jinja's sandbox. What takes a Runtime charges
// it for what there is to read and to copy.

namespace rapt::jinja {

// `object.name`: a method first, then an item of that name; undefined where there is neither.
Result<Value> get_attribute(Runtime& runtime, const Value& object, std::string_view name);
// `object[key]`: an item first, then an attribute.
Result<Value> get_item(Runtime& runtime, const Value& object, const Value& key);
// `object[start:stop:step]`; each may be none.
Result<Value> get_slice(
    Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step
);

// What a for loop would see. Reads an iterator to its end. Refuses a text of too many characters.
Result<std::vector<Value>> items_of(Runtime& runtime, const Value& iterable);
bool is_iterable(const Value& value);
// len(), where there is one.
std::optional<Int> length_of(const Value& value);

Result<Value> call_value(Runtime& runtime, const Value& callee, Arguments arguments);

}  // namespace rapt::jinja
