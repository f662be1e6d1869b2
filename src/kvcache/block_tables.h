#pragma once

#include <span>
#include <vector>

#include "kvcache/block_pool.h"

namespace rapt {

// Where the K and V of one sequence lie: one table a group, table[position / block_size] is the
// block's id in that group's pool, or kNoBlock once a sliding window has left it behind. Plain
// data, owned by the sequence; only KVCacheManager changes it, and KVCacheManager::release() must
// have taken the blocks back before it is destroyed.
struct BlockTables {
  static constexpr BlockId kNoBlock = -1;

  struct Table {
    std::vector<BlockId> blocks;
    int num_dropped = 0;  // blocks at the front that are kNoBlock
    int claim = 0;        // full: most blocks it may ever hold; sliding: blocks reserved for it

    int num_held() const { return static_cast<int>(blocks.size()) - num_dropped; }
  };

  std::vector<Table> tables;  // one a group, in the order of the groups; empty until admitted
  int max_positions = 0;
  bool is_admitted = false;

  std::span<const BlockId> table(int group_idx) const {
    return tables[static_cast<std::size_t>(group_idx)].blocks;
  }
};

}  // namespace rapt
