#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat/jinja/marked_text_internal.h"
#include "text/chat/jinja/numbers_internal.h"
#include "text/chat/jinja/unicode_internal.h"

// What Python's str can do, for texts that know who wrote them. Counts below 0 mean "all". What
// takes a Runtime charges it for what it reads and for the parts that it makes; the others take a
// time that grows with the texts that they are given and make.

namespace rapt::jinja {

class Runtime;

// Without the characters of `chars` (nothing: white space) at its ends.
MarkedText strip(
    const MarkedText& text, std::optional<std::string_view> chars, bool left, bool right
);

MarkedText replace(
    const MarkedText& text, std::string_view old, const MarkedText& replacement, Int count
);

// Cuts at `separator`, which is not empty; at most `max_cuts` times, from the left or the right.
Result<std::vector<MarkedText>> split(
    Runtime& runtime,
    const MarkedText& text,
    std::string_view separator,
    Int max_cuts,
    bool from_right
);
// Cuts at white space, of which nothing is left.
Result<std::vector<MarkedText>> split_words(
    Runtime& runtime, const MarkedText& text, Int max_cuts, bool from_right
);
Result<std::vector<MarkedText>> split_lines(
    Runtime& runtime, const MarkedText& text, bool keep_ends
);

// Each character in the case that `wanted` says for it.
MarkedText with_cases(
    const MarkedText& text, const std::function<std::optional<Case>(const CodePoint&)>& wanted
);
MarkedText to_case(const MarkedText& text, Case wanted);
// The first character upper, the others lower.
MarkedText capitalize(const MarkedText& text);
// As str.title(): every letter behind a character without case.
MarkedText title_words(const MarkedText& text);

enum class Align { kLeft, kRight, kCenter };

// Fills up to `width` characters; `align` says where the text stands.
MarkedText pad(const MarkedText& text, Int width, std::string_view fill, Align align);

}  // namespace rapt::jinja
