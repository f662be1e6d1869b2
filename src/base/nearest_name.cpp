#include "base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace rapt {

// Optimal string alignment; three rows of the usual table are kept.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above(row.size());
  std::vector<std::size_t> two_above(row.size());
  for (std::size_t a_idx = 1; a_idx <= a.size(); ++a_idx) {
    two_above.swap(above);
    above.swap(row);
    row[0] = a_idx;
    for (std::size_t b_idx = 1; b_idx <= b.size(); ++b_idx) {
      const bool is_same = a[a_idx - 1] == b[b_idx - 1];
      row[b_idx] =
          std::min({above[b_idx - 1] + (is_same ? 0 : 1), row[b_idx - 1] + 1, above[b_idx] + 1});
      const bool is_swap =
          a_idx > 1 && b_idx > 1 && a[a_idx - 1] == b[b_idx - 2] && a[a_idx - 2] == b[b_idx - 1];
      if (is_swap) {
        row[b_idx] = std::min(row[b_idx], two_above[b_idx - 2] + 1);
      }
    }
  }
  return row.back();
}

std::optional<std::string_view> nearest_name(
    std::string_view wrong, std::span<const std::string_view> names
) {
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(wrong.size(), name.size()) / 3);
    if (distance <= allowed && (!best.has_value() || distance < best_distance)) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(
    std::string_view wrong, std::span<const std::string_view> names, std::string_view prefix
) {
  const std::optional<std::string_view> name = nearest_name(wrong, names);
  if (!name.has_value()) {
    return "";
  }
  return "; did you mean " + std::string(prefix) + std::string(*name) + "?";
}

}  // namespace rapt
