#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text/chat/jinja/value_internal.h"

// Hashes of dicts' keys. They depend on a number that is drawn once a process, so that neither a
// template nor a request can bring keys whose hashes are all the same, which would make a dict
// slow.

namespace rapt::jinja {

// Equal values have equal hashes; nothing for lists and dicts, which have none.
std::optional<std::size_t> hash_of(const Value& value);
std::size_t hash_of_text(std::string_view bytes);

}  // namespace rapt::jinja
