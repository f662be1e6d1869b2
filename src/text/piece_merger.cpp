#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "text/piece_merger_internal.h"
#include "text/utf8_internal.h"

namespace rapt {

PieceMerger::PieceMerger(
    Vocabulary pieces,
    const std::vector<float>& scores,
    std::vector<bool> is_unused,
    const Unknown& unknown
)
    : pieces_(std::move(pieces)), is_unused_(std::move(is_unused)), unknown_(unknown) {
  const auto num_pieces = static_cast<std::size_t>(pieces_.size());
  CHECK(scores.size() == num_pieces, scores.size(), " scores for ", num_pieces, " pieces");
  std::vector<float> best_first = scores;
  std::sort(best_first.begin(), best_first.end(), std::greater<>());
  best_first.erase(std::unique(best_first.begin(), best_first.end()), best_first.end());
  ranks_.reserve(num_pieces);
  for (const float score : scores) {
    const auto place =
        std::lower_bound(best_first.begin(), best_first.end(), score, std::greater<>());
    ranks_.push_back(static_cast<std::uint32_t>(place - best_first.begin()));
  }
}

PieceMerger::PieceMerger(
    Vocabulary pieces, const std::vector<MergeList::Merge>& merges, const Unknown& unknown
)
    : pieces_(std::move(pieces)), merges_(MergeList(merges)), unknown_(unknown) {}

void PieceMerger::begin_parts(std::string_view text, std::vector<Part>& parts) const {
  parts.clear();
  for (std::size_t pos = 0; pos < text.size();) {
    const std::size_t num_bytes = utf8_step(text, pos).num_bytes;
    const auto idx = static_cast<std::uint32_t>(parts.size());
    parts.push_back(
        {static_cast<std::uint32_t>(pos),
         idx + 1,
         idx - 1,
         pieces_.find(text.substr(pos, num_bytes)),
         kNoRank}
    );
    pos += num_bytes;
  }
  parts.push_back({.begin = static_cast<std::uint32_t>(text.size())});
}

// Looks up the pair that begins with part `left`.
void PieceMerger::update_rank(std::string_view text, std::uint32_t left, Scratch& scratch) const {
  std::vector<Part>& parts = scratch.parts;
  Part& part = parts[left];
  const Part& right = parts[part.next];
  part.rank = kNoRank;
  if (part.next + 1 == parts.size()) {
    return;
  }
  if (merges_) {
    if (part.id != kNoToken && right.id != kNoToken) {
      part.rank = merges_->rank_of(part.id, right.id);
    }
  } else {
    const std::string_view both = text.substr(part.begin, parts[right.next].begin - part.begin);
    const TokenId joined = pieces_.find(both);
    if (joined != kNoToken) {
      part.rank = ranks_[static_cast<std::size_t>(joined)];
      if (is_unused(joined)) {
        scratch.splits[both] = right.begin - part.begin;
      }
    }
  }
  if (part.rank != kNoRank) {
    scratch.heap.push_back((static_cast<std::uint64_t>(part.rank) << 32) | left);
  }
}

void PieceMerger::join_parts(std::string_view text, Scratch& scratch) const {
  std::vector<Part>& parts = scratch.parts;
  std::vector<std::uint64_t>& heap = scratch.heap;
  const auto end = static_cast<std::uint32_t>(parts.size() - 1);
  heap.clear();
  for (std::uint32_t idx = 0; idx < end; ++idx) {
    update_rank(text, idx, scratch);
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto update = [&](std::uint32_t left) {
    const std::size_t size_before = heap.size();
    update_rank(text, left, scratch);
    if (heap.size() > size_before) {
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const auto rank = static_cast<std::uint32_t>(heap.back() >> 32);
    const auto left_idx = static_cast<std::uint32_t>(heap.back());
    heap.pop_back();
    // An entry is stale when its left part was swallowed or has a different neighbour by now. (One
    // that is stale and has the rank of what is there now stands for an entry behind it.)
    Part& left = parts[left_idx];
    if (left.rank != rank) {
      continue;
    }
    Part& right = parts[left.next];
    const std::uint32_t next = right.next;
    left.id = merges_ ? merges_->joined_by(rank)
                      : pieces_.find(text.substr(left.begin, parts[next].begin - left.begin));
    left.next = next;
    right.rank = kSwallowed;
    if (next < end) {
      parts[next].prev = left_idx;
    }
    update(left_idx);
    if (left_idx > 0) {
      update(left.prev);
    }
  }
}

void PieceMerger::append_tokens(std::string_view text, Scratch& scratch, std::vector<TokenId>& out)
    const {
  begin_parts(text, scratch.parts);
  scratch.splits.clear();
  join_parts(text, scratch);
  bool is_behind_unknown = false;
  for (std::uint32_t idx = 0; idx + 1 < scratch.parts.size(); idx = scratch.parts[idx].next) {
    const Part& part = scratch.parts[idx];
    const std::size_t num_bytes = scratch.parts[part.next].begin - part.begin;
    const std::string_view piece = text.substr(part.begin, num_bytes);
    if (part.id == kNoToken) {
      is_behind_unknown = append_unknown(piece, is_behind_unknown, out);
      continue;
    }
    is_behind_unknown = false;
    if (is_unused(part.id)) {
      append_unused(piece, scratch, out);
    } else {
      out.push_back(part.id);
    }
  }
}

// Takes the piece apart until no part is unused. A character that is, is unknown text.
void PieceMerger::append_unused(
    std::string_view piece, const Scratch& scratch, std::vector<TokenId>& out
) const {
  std::vector<std::string_view> left_to_do = {piece};
  bool is_behind_unknown = false;
  while (!left_to_do.empty()) {
    const std::string_view part = left_to_do.back();
    left_to_do.pop_back();
    const TokenId id = pieces_.find(part);
    if (id != kNoToken && !is_unused(id)) {
      out.push_back(id);
      is_behind_unknown = false;
      continue;
    }
    const auto split = scratch.splits.find(part);
    if (split == scratch.splits.end()) {
      is_behind_unknown = append_unknown(part, is_behind_unknown, out);
      continue;
    }
    left_to_do.push_back(part.substr(split->second));
    left_to_do.push_back(part.substr(0, split->second));
  }
}

bool PieceMerger::append_unknown(
    std::string_view piece, bool is_behind_unknown, std::vector<TokenId>& out
) const {
  const auto id_of = [this](char byte) {
    return unknown_.byte_ids[static_cast<std::uint8_t>(byte)];
  };
  if (std::all_of(piece.begin(), piece.end(), [&](char byte) { return id_of(byte) != kNoToken; })) {
    std::transform(piece.begin(), piece.end(), std::back_inserter(out), id_of);
    return false;
  }
  if (unknown_.id != kNoToken && !(is_behind_unknown && unknown_.joins_runs)) {
    out.push_back(unknown_.id);
  }
  return true;
}

}  // namespace rapt
