#pragma once

#include <cstdint>
#include <vector>

namespace rapt {

using BlockId = std::int32_t;

// The block ids of one layer group, 0 .. num_blocks - 1, with a reference count each. Only ids: the
// bytes live in the attention layer's store. Ids come back in last-in-first-out order, so that a
// lightly used cache keeps touching the same memory, and the order is the same in every run.
// Owned by KVCacheManager, engine thread only. No call after the constructor allocates memory.
//
// A block with several references is shared by several tables; a prefix index can hold references
// of its own and give them up in its own order, without a change here.
class BlockPool {
 public:
  explicit BlockPool(int num_blocks);

  int num_blocks() const { return static_cast<int>(references_.size()); }

  int num_free() const { return static_cast<int>(free_.size()); }

  int num_used() const { return num_blocks() - num_free(); }

  // A free block, now with one reference. There must be one: see num_free().
  BlockId take();
  void add_reference(BlockId block);
  // Gives one reference back; the last one makes the block free.
  void release(BlockId block);
  int num_references(BlockId block) const;

 private:
  std::vector<BlockId> free_;             // the back is taken next
  std::vector<std::int32_t> references_;  // by block id; 0 is free
};

}  // namespace rapt
