#pragma once

#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

class Runtime;

// Python's `text % argument`: a tuple gives values by place, a dict by name.
Result<Value> percent_format(Runtime& runtime, const MarkedText& text, const Value& argument);

}  // namespace rapt::jinja
