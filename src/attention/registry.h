#pragma once

#include <span>
#include <string_view>

#include "attention/backend_info.h"

namespace rapt {

// Every backend there is, also those that this binary was built without, in the order of the list
// in attention/CMakeLists.txt. Never changes.
std::span<const BackendInfo* const> attention_backends();

// By its own name ("cpu-flash"), exactly; null when there is none. Other engines' names:
// attention/select/alias_internal.h.
const BackendInfo* find_attention_backend(
    std::string_view name, std::span<const BackendInfo* const> backends = attention_backends()
);

}  // namespace rapt
