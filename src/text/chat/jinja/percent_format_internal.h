#pragma once

#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

// Python's `text % argument`: a tuple gives values by place, a dict by name.
Result<Value> percent_format(const MarkedText& text, const Value& argument);

}  // namespace rapt::jinja
