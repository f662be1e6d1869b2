#pragma once

#include <span>
#include <vector>

#include "kvcache/block_pool.h"
#include "kvcache/block_tables.h"
#include "kvcache/kv_group.h"

namespace rapt {

// Decides which sequence gets which KV blocks, and keeps the promise that a started sequence never
// loses one. Knows block ids only, no tensors. Owned by the engine, called by the scheduler, engine
// thread only. No call but admit() allocates memory.
//
// How the promise is kept. Sequences say at the start how long they can get.
// - Full groups: blocks are given as the sequence grows, but only if the state stays *safe*: there
//   is an order in which every sequence can get all it may still ask for, each using what the
//   finished ones before it gave back (the banker's algorithm). In a safe state some sequence can
//   always go on, so all finish. A grant that would break it is refused: the sequence pauses and
//   keeps what it has.
// - Sliding groups: a sequence reserves the few blocks of its window, so that one more token is
//   always possible; a chunk of several tokens borrows what nobody has reserved.
class KVCacheManager {
 public:
  // One pool of num_blocks[g] blocks of `block_size` positions for each of `groups`.
  KVCacheManager(std::vector<KVGroupSpec> groups, std::span<const int> num_blocks, int block_size);

  // The longest sequence that fits when it is alone; a longer one must never be admitted.
  int max_positions() const;

  // Starts a sequence that will never have more than `max_positions` positions. False when the
  // sliding groups have no room for its window now. It holds no block yet. `tables` stays where it
  // is until release().
  [[nodiscard]] bool admit(BlockTables& tables, int max_positions);

  // Makes blocks exist for the positions [first_position, first_position + num_positions), or for
  // as many of them as is safe now, and returns for how many: 0 means pause. Blocks for all
  // positions before must exist or lie outside the window.
  [[nodiscard]] int grow(BlockTables& tables, int first_position, int num_positions);

  // Gives back what no query at `next_position` or later can see in the sliding groups.
  void free_outside_window(BlockTables& tables, int next_position);

  // Ends a sequence: all its blocks and claims come back. Fine for one that is not admitted. The
  // tables keep their memory, so that trying again later allocates nothing.
  void release(BlockTables& tables);

  int block_size() const { return block_size_; }

  int num_groups() const { return static_cast<int>(groups_.size()); }

  const KVGroupSpec& group(int group_idx) const { return groups_[to_index(group_idx)]; }

  const BlockPool& pool(int group_idx) const { return pools_[to_index(group_idx)]; }

  int num_blocks_used() const;   // over all pools
  int num_blocks_total() const;  // over all pools
  double usage() const;          // used share of the fullest pool, 0 to 1

 private:
  struct Need {
    int remaining = 0;  // blocks it may still ask for
    int held = 0;
  };

  static std::size_t to_index(int idx) { return static_cast<std::size_t>(idx); }

  int grantable_full(const BlockTables& tables, std::size_t group_idx, int wanted);
  bool is_safe_after(const BlockTables& tables, std::size_t group_idx, int granted);
  int unreserved_sliding(std::size_t group_idx) const;

  std::vector<KVGroupSpec> groups_;
  std::vector<BlockPool> pools_;
  int block_size_;
  std::vector<const BlockTables*> admitted_;
  std::vector<Need> needs_;  // scratch of is_safe_after()
};

}  // namespace rapt
