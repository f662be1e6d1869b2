#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "request/request.h"

namespace rapt {

// Finds the names of added tokens in a text: the leftmost, and of those that begin there the
// longest. Immutable, serves all threads.
class NameMatcher {
 public:
  struct Name {
    std::string text;
    TokenId id = 0;
  };

  NameMatcher() = default;
  // No name may be empty. Of equal names the first counts.
  explicit NameMatcher(std::vector<Name> names);

  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id = 0;
  };

  std::optional<Match> find(std::string_view text, std::size_t from) const;
  std::optional<TokenId> find_exact(std::string_view name) const;

  bool empty() const { return names_.empty(); }

 private:
  std::optional<Match> longest_at(std::string_view text, std::size_t begin) const;

  std::vector<Name> names_;  // sorted by text
  std::array<bool, 256> can_begin_{};
};

}  // namespace rapt
