#include <algorithm>
#include <bit>

#include "text/merge_list_internal.h"

namespace rapt {

namespace {

std::uint64_t pair_key(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
         static_cast<std::uint32_t>(right);
}

std::size_t pair_slot(std::uint64_t key, std::size_t num_slots) {
  const std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;
  return (hash ^ (hash >> 32)) & (num_slots - 1);
}

}  // namespace

MergeList::MergeList(const std::vector<Merge>& merges) {
  joined_.reserve(merges.size());
  slots_.resize(std::bit_ceil(std::max<std::size_t>(merges.size() * 2, 16)));
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::uint64_t key = pair_key(merges[rank].left, merges[rank].right);
    std::size_t slot = pair_slot(key, slots_.size());
    while (slots_[slot].rank != kNoRank && slots_[slot].key != key) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    // The same pair listed again: the last line counts, as in a map that is filled in file order.
    slots_[slot] = {key, static_cast<std::uint32_t>(rank)};
    joined_.push_back(merges[rank].joined);
  }
}

std::uint32_t MergeList::rank_of(TokenId left, TokenId right) const {
  const std::uint64_t key = pair_key(left, right);
  std::size_t slot = pair_slot(key, slots_.size());
  while (slots_[slot].rank != kNoRank) {
    if (slots_[slot].key == key) {
      return slots_[slot].rank;
    }
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return kNoRank;
}

}  // namespace rapt
