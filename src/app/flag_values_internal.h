#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/flag_table_internal.h"
#include "base/result.h"

namespace rapt {

// Turns what a user wrote for one flag into its value, and checks it against the row. `texts` are
// the occurrences in order; flags that do not repeat take the last. `where` begins error messages
// ("--port", "config.yaml: port").
Result<FlagValue> convert_flag(
    const FlagSpec& flag, std::span<const std::string> texts, std::string_view where
);

// "from 1 to 65535", "one of auto, bf16, f32", ...: what the row allows; "" when it allows
// anything.
std::string allowed_values(const FlagSpec& flag);

// Whether `text` is a word for on, off or auto.
bool is_tri_state(std::string_view text);

std::vector<std::string_view> split_at(std::string_view text, char separator);

}  // namespace rapt
