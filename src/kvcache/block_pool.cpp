#include "kvcache/block_pool.h"

#include "base/check.h"

namespace rapt {

BlockPool::BlockPool(int num_blocks) {
  CHECK(num_blocks >= 0, "num_blocks=", num_blocks);
  references_.assign(static_cast<std::size_t>(num_blocks), 0);
  free_.reserve(references_.size());
  for (BlockId block = num_blocks - 1; block >= 0; --block) {
    free_.push_back(block);
  }
}

BlockId BlockPool::take() {
  CHECK(!free_.empty(), "all ", num_blocks(), " blocks are taken");
  const BlockId block = free_.back();
  free_.pop_back();
  references_[static_cast<std::size_t>(block)] = 1;
  return block;
}

void BlockPool::add_reference(BlockId block) {
  CHECK(num_references(block) > 0, "block ", block, " is free");
  ++references_[static_cast<std::size_t>(block)];
}

void BlockPool::release(BlockId block) {
  CHECK(num_references(block) > 0, "block ", block, " is free");
  if (--references_[static_cast<std::size_t>(block)] == 0) {
    free_.push_back(block);
  }
}

int BlockPool::num_references(BlockId block) const {
  CHECK(block >= 0 && block < num_blocks(), "block ", block, " of ", num_blocks());
  return references_[static_cast<std::size_t>(block)];
}

}  // namespace rapt
