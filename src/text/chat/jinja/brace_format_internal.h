#pragma once

#include "text/chat/jinja/callable_internal.h"

namespace rapt::jinja {

// Python's `text.format(...)`: {} {0} {name} {a.b[c]} with !r !s and format specs.
Result<Value> brace_format(Runtime& runtime, const MarkedText& text, const Arguments& arguments);

}  // namespace rapt::jinja
