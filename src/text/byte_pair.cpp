#include <algorithm>
#include <bit>

#include "base/check.h"
#include "text/byte_pair_internal.h"

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

// Order of a heap whose front is the lowest rank, then the leftmost.
bool comes_later(const BytePairMerger::Candidate& a, const BytePairMerger::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
}

}  // namespace

BytePairMerger::BytePairMerger(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  index_bytes();
}

BytePairMerger::BytePairMerger(
    Vocabulary vocabulary, const std::vector<Merge>& merges, bool whole_piece_first
)
    : vocabulary_(std::move(vocabulary)), whole_piece_first_(whole_piece_first) {
  index_bytes();
  pair_slots_.resize(std::bit_ceil(std::max<std::size_t>(merges.size() * 2, 16)));
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::uint64_t key = pair_key(merges[rank].left, merges[rank].right);
    std::size_t slot = pair_slot(key, pair_slots_.size());
    while (pair_slots_[slot].joined != kNoToken && pair_slots_[slot].key != key) {
      slot = (slot + 1) & (pair_slots_.size() - 1);
    }
    // The same pair listed again: the last line counts, as in a map that is filled in file order.
    pair_slots_[slot] = {key, static_cast<std::uint32_t>(rank), merges[rank].joined};
  }
}

void BytePairMerger::index_bytes() {
  byte_ids_.resize(256);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary_.find({&text, 1});
    CHECK(byte_ids_[byte] != kNoToken, "byte ", byte, " is no token");
  }
}

std::optional<BytePairMerger::Candidate> BytePairMerger::find_merge(
    std::string_view piece, const std::vector<Part>& parts, std::uint32_t left
) const {
  const std::uint32_t right = parts[left].next;
  if (right >= piece.size()) {
    return std::nullopt;
  }
  const std::uint32_t num_bytes = parts[right].next - left;
  if (pair_slots_.empty()) {
    const TokenId joined = vocabulary_.find(piece.substr(left, num_bytes));
    if (joined == kNoToken) {
      return std::nullopt;
    }
    return Candidate{static_cast<std::uint32_t>(joined), left, num_bytes, joined};
  }
  const std::uint64_t key = pair_key(parts[left].id, parts[right].id);
  std::size_t slot = pair_slot(key, pair_slots_.size());
  while (pair_slots_[slot].joined != kNoToken) {
    if (pair_slots_[slot].key == key) {
      return Candidate{pair_slots_[slot].rank, left, num_bytes, pair_slots_[slot].joined};
    }
    slot = (slot + 1) & (pair_slots_.size() - 1);
  }
  return std::nullopt;
}

void BytePairMerger::append_tokens(
    std::string_view piece, Scratch& scratch, std::vector<TokenId>& out
) const {
  if (whole_piece_first_ || piece.size() == 1) {
    if (const TokenId whole = vocabulary_.find(piece); whole != kNoToken) {
      out.push_back(whole);
      return;
    }
  }
  const auto size = static_cast<std::uint32_t>(piece.size());
  std::vector<Part>& parts = scratch.parts;
  parts.resize(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    parts[i] = {i + 1, i - 1, byte_ids_[static_cast<std::uint8_t>(piece[i])]};
  }

  std::vector<Candidate>& heap = scratch.heap;
  heap.clear();
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    if (const auto candidate = find_merge(piece, parts, i)) {
      heap.push_back(*candidate);
    }
  }
  std::make_heap(heap.begin(), heap.end(), comes_later);
  const auto add_candidate = [&](std::uint32_t left) {
    if (const auto candidate = find_merge(piece, parts, left)) {
      heap.push_back(*candidate);
      std::push_heap(heap.begin(), heap.end(), comes_later);
    }
  };

  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const Candidate best = heap.back();
    heap.pop_back();
    Part& left = parts[best.left];
    // A part only ever grows, so a candidate is stale exactly when its left part was swallowed or
    // the two parts no longer have the length they had.
    if (left.id == kNoToken || left.next >= size ||
        parts[left.next].next - best.left != best.num_bytes) {
      continue;
    }
    Part& right = parts[left.next];
    left.id = best.joined;
    left.next = right.next;
    right.id = kNoToken;
    if (left.next < size) {
      parts[left.next].prev = best.left;
      add_candidate(best.left);
    }
    if (best.left > 0) {
      add_candidate(left.prev);
    }
  }
  for (std::uint32_t i = 0; i < size; i = parts[i].next) {
    out.push_back(parts[i].id);
  }
}

}  // namespace rapt
