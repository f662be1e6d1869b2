#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/chat/jinja/marked_text_internal.h"
#include "text/chat/jinja/value_internal.h"

// Values as text, the way Python's str() and repr() write them. What came from data stays marked.

namespace rapt::jinja {

class Runtime;

// What {{ value }} prints. An error when the text grows too large, or the runtime's budget is used
// up by what there is to read.
Result<MarkedText> str_of(Runtime& runtime, const Value& value);
// These two stop where `out` overflows. Whoever calls them charges for what has been appended.
void append_str(MarkedText& out, const Value& value);
void append_repr(MarkedText& out, const Value& value);
// repr() for messages: no more of it than fits one.
std::string repr_text(const Value& value);

// The text for a message: a long one is cut behind a whole character, which dots tell.
std::string shortened(std::string_view text, std::size_t max_bytes = 100);

}  // namespace rapt::jinja
