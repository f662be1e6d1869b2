#pragma once

#include <algorithm>

namespace rapt {

// Layers that keep the same state for a sequence form a group and share a block table. A full layer
// keeps every position; a sliding one only those that its next query can see.
enum class KVGroupKind { kFull, kSliding };

struct KVGroupSpec {
  KVGroupKind kind = KVGroupKind::kFull;
  int window = 0;      // kSliding: the query at position p sees keys p - window + 1 .. p
  int num_layers = 0;  // how many layers share the table; blocks are counted once, not per layer
};

// How many blocks `num_positions` positions need when the first one starts a block.
constexpr int blocks_for(int num_positions, int block_size) {
  return (num_positions + block_size - 1) / block_size;
}

// What a group must be able to give a sequence of at most `max_positions` positions so that it can
// always go on one token at a time. Full: all its blocks. Sliding: the blocks that `window`
// positions touch wherever they lie. A sliding pool that gives `n` sequences their best speed has
// n times this, and blocks_for(tokens in one step) + n more for chunks in flight.
constexpr int blocks_claimed(const KVGroupSpec& group, int block_size, int max_positions) {
  const int all = blocks_for(max_positions, block_size);
  if (group.kind == KVGroupKind::kFull) {
    return all;
  }
  return std::min(all, blocks_for(group.window - 1, block_size) + 1);
}

}  // namespace rapt
