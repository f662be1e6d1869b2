#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "text/byte_pair_internal.h"

namespace rapt {

namespace {

// A piece up to this long is joined by looking through all pairs each time: for words that is
// faster than keeping a heap.
constexpr std::size_t kMaxShortPiece = 48;

}  // namespace

BytePairMerger::BytePairMerger(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  index_bytes();
  index_byte_pairs();
}

BytePairMerger::BytePairMerger(
    Vocabulary vocabulary, const std::vector<Merge>& merges, bool whole_piece_first
)
    : vocabulary_(std::move(vocabulary)),
      merges_(MergeList(merges)),
      whole_piece_first_(whole_piece_first) {
  index_bytes();
  index_byte_pairs();
}

void BytePairMerger::index_bytes() {
  byte_ids_.resize(256);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary_.find({&text, 1});
    knows_all_bytes_ &= byte_ids_[byte] != kNoToken;
  }
}

void BytePairMerger::index_byte_pairs() {
  byte_pair_ranks_.resize(byte_ids_.size() * byte_ids_.size());
  std::size_t pair = 0;
  for (std::size_t left = 0; left < byte_ids_.size(); ++left) {
    for (std::size_t right = 0; right < byte_ids_.size(); ++right) {
      const char bytes[] = {static_cast<char>(left), static_cast<char>(right)};
      byte_pair_ranks_[pair++] = rank_of({bytes, 2}, byte_ids_[left], byte_ids_[right]);
    }
  }
}

// `joined_bytes` are those of both parts.
std::uint32_t BytePairMerger::rank_of(std::string_view joined_bytes, TokenId left, TokenId right)
    const {
  if (merges_) {
    return merges_->rank_of(left, right);
  }
  const TokenId joined = vocabulary_.find(joined_bytes);
  return joined == kNoToken ? kNoRank : static_cast<std::uint32_t>(joined);
}

TokenId BytePairMerger::joined_by(std::uint32_t rank) const {
  return merges_ ? merges_->joined_by(rank) : static_cast<TokenId>(rank);
}

bool BytePairMerger::has_unknown_byte(std::string_view piece) const {
  return !knows_all_bytes_ && std::any_of(piece.begin(), piece.end(), [this](char c) {
    return byte_ids_[static_cast<std::uint8_t>(c)] == kNoToken;
  });
}

void BytePairMerger::append_tokens(
    std::string_view piece, Scratch& scratch, std::vector<TokenId>& out
) const {
  if (whole_piece_first_ && piece.size() > 1) {
    if (const TokenId whole = vocabulary_.find(piece); whole != kNoToken) {
      out.push_back(whole);
      return;
    }
  }
  if (has_unknown_byte(piece)) {
    scratch.known.clear();
    std::copy_if(piece.begin(), piece.end(), std::back_inserter(scratch.known), [this](char c) {
      return byte_ids_[static_cast<std::uint8_t>(c)] != kNoToken;
    });
    piece = scratch.known;
  }
  join_bytes(piece, scratch, out);
}

// `piece` is of bytes that are tokens.
void BytePairMerger::join_bytes(std::string_view piece, Scratch& scratch, std::vector<TokenId>& out)
    const {
  if (piece.size() <= 1) {
    for (const char c : piece) {
      out.push_back(byte_ids_[static_cast<std::uint8_t>(c)]);
    }
  } else if (piece.size() <= kMaxShortPiece) {
    append_short(piece, out);
  } else {
    append_long(piece, scratch, out);
  }
}

void BytePairMerger::append_short(std::string_view piece, std::vector<TokenId>& out) const {
  std::array<std::uint8_t, kMaxShortPiece + 1> begins;
  std::array<TokenId, kMaxShortPiece> ids;
  std::array<std::uint32_t, kMaxShortPiece> ranks;
  std::size_t num_parts = piece.size();
  for (std::size_t i = 0; i < num_parts; ++i) {
    const auto byte = static_cast<std::uint8_t>(piece[i]);
    begins[i] = static_cast<std::uint8_t>(i);
    ids[i] = byte_ids_[byte];
    ranks[i] = i + 1 == num_parts
                   ? kNoRank
                   : byte_pair_ranks_[byte * 256U + static_cast<std::uint8_t>(piece[i + 1])];
  }
  begins[num_parts] = static_cast<std::uint8_t>(num_parts);
  const auto update_rank = [&](std::size_t i) {
    if (i + 1 >= num_parts) {
      ranks[i] = kNoRank;
      return;
    }
    const std::size_t num_bytes = static_cast<std::size_t>(begins[i + 2] - begins[i]);
    ranks[i] = rank_of(piece.substr(begins[i], num_bytes), ids[i], ids[i + 1]);
  };

  while (num_parts > 1) {
    const auto last = ranks.begin() + static_cast<std::ptrdiff_t>(num_parts) - 1;
    const auto best = std::min_element(ranks.begin(), last);
    if (*best == kNoRank) {
      break;
    }
    const auto best_idx = static_cast<std::size_t>(best - ranks.begin());
    ids[best_idx] = joined_by(*best);
    for (std::size_t i = best_idx + 1; i + 1 < num_parts; ++i) {
      begins[i] = begins[i + 1];
      ids[i] = ids[i + 1];
      ranks[i] = ranks[i + 1];
    }
    begins[num_parts - 1] = begins[num_parts];
    --num_parts;
    update_rank(best_idx);
    if (best_idx > 0) {
      update_rank(best_idx - 1);
    }
  }
  out.insert(out.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(num_parts));
}

void BytePairMerger::append_long(
    std::string_view piece, Scratch& scratch, std::vector<TokenId>& out
) const {
  const auto size = static_cast<std::uint32_t>(piece.size());
  std::vector<Part>& parts = scratch.parts;
  std::vector<std::uint64_t>& heap = scratch.heap;
  parts.resize(size);
  heap.clear();
  const auto entry_of = [&](std::uint32_t left) {
    return (static_cast<std::uint64_t>(parts[left].rank) << 32) | left;
  };
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto byte = static_cast<std::uint8_t>(piece[i]);
    parts[i] = {i + 1, i - 1, byte_ids_[byte], kNoRank};
    if (i + 1 < size) {
      parts[i].rank = byte_pair_ranks_[byte * 256U + static_cast<std::uint8_t>(piece[i + 1])];
    }
    if (parts[i].rank != kNoRank) {
      heap.push_back(entry_of(i));
    }
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto update_rank = [&](std::uint32_t left) {
    const std::uint32_t right = parts[left].next;
    if (right >= size) {
      parts[left].rank = kNoRank;
      return;
    }
    const std::string_view both = piece.substr(left, parts[right].next - left);
    parts[left].rank = rank_of(both, parts[left].id, parts[right].id);
    if (parts[left].rank != kNoRank) {
      heap.push_back(entry_of(left));
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  };

  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const auto rank = static_cast<std::uint32_t>(heap.back() >> 32);
    const auto left_pos = static_cast<std::uint32_t>(heap.back());
    heap.pop_back();
    // An entry is stale when its left part was swallowed or has a different neighbour by now.
    Part& left = parts[left_pos];
    if (left.id == kNoToken || left.rank != rank) {
      continue;
    }
    Part& right = parts[left.next];
    left.id = joined_by(rank);
    left.next = right.next;
    right.id = kNoToken;
    if (left.next < size) {
      parts[left.next].prev = left_pos;
    }
    update_rank(left_pos);
    if (left_pos > 0) {
      update_rank(left.prev);
    }
  }
  for (std::uint32_t i = 0; i < size; i = parts[i].next) {
    out.push_back(parts[i].id);
  }
}

}  // namespace rapt
