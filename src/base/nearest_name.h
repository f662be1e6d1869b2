#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rapt {

// The fewest insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name that was most likely meant by `wrong`: the one with the fewest single-character edits,
// as long as those are at most a third of the longer name's length.
std::optional<std::string_view> nearest_name(
    std::string_view wrong, std::span<const std::string_view> names
);

// "; did you mean NAME?", with `prefix` before the name; "" when nothing is near.
std::string did_you_mean(
    std::string_view wrong, std::span<const std::string_view> names, std::string_view prefix = {}
);

}  // namespace rapt
