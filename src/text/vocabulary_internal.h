#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "request/request.h"

namespace rapt {

inline constexpr TokenId kNoToken = -1;

// Tokens as byte strings, by id and by bytes: one arena and one flat hash table, because half a
// million small strings in a node-based map would take longer to build than everything else at
// start. Filled once, then read by all threads.
class Vocabulary {
 public:
  // Token `id` is the next `lengths[id]` bytes of `arena`; 0 marks an id without a token. The
  // lengths must add up to the arena's size.
  Vocabulary(std::string arena, const std::vector<std::uint32_t>& lengths);

  int size() const { return static_cast<int>(begins_.size()) - 1; }

  // "" for an id out of range or without a token.
  std::string_view bytes(TokenId id) const;
  // kNoToken when `bytes` is no token. When several ids have the same bytes, the lowest.
  TokenId find(std::string_view bytes) const;

 private:
  struct Slot {
    std::uint32_t tag = 0;  // upper half of the hash: most misses end here, without the arena
    TokenId id = kNoToken;
  };

  void insert(TokenId id);

  std::string arena_;
  std::vector<std::uint32_t> begins_;
  std::vector<Slot> slots_;
  std::size_t max_token_bytes_ = 0;
};

}  // namespace rapt
