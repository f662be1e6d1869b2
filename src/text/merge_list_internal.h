#pragma once

#include <cstdint>
#include <vector>

#include "text/vocabulary_internal.h"

namespace rapt {

// The pairs of tokens that may be joined, best first, looked up by pair. Filled once, then read by
// all threads.
class MergeList {
 public:
  struct Merge {
    TokenId left = 0;
    TokenId right = 0;
    TokenId joined = 0;
  };

  static constexpr std::uint32_t kNoRank = 0xFFFFFFFF;

  MergeList() = default;
  explicit MergeList(const std::vector<Merge>& merges);

  // The pair's place in the list; kNoRank when it may not be joined.
  std::uint32_t rank_of(TokenId left, TokenId right) const;

  TokenId joined_by(std::uint32_t rank) const { return joined_[rank]; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t rank = kNoRank;
  };

  std::vector<Slot> slots_;      // by pair; a power of two
  std::vector<TokenId> joined_;  // by rank
};

}  // namespace rapt
