#pragma once

#include <string>

#include "text/chat/jinja/marked_text_internal.h"
#include "text/chat/jinja/value_internal.h"

// Values as text, the way Python's str() and repr() write them. What came from data stays marked.

namespace rapt::jinja {

// What {{ value }} prints.
MarkedText str_of(const Value& value);
void append_str(MarkedText& out, const Value& value);
void append_repr(MarkedText& out, const Value& value);
// repr() for messages.
std::string repr_text(const Value& value);

}  // namespace rapt::jinja
