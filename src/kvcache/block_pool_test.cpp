#include "kvcache/block_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace rapt {
namespace {

TEST(BlockPool, GivesEachBlockOnceInAscendingOrder) {
  BlockPool pool(3);
  EXPECT_EQ(pool.num_blocks(), 3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.num_free(), 0);
  EXPECT_EQ(pool.num_used(), 3);
}

TEST(BlockPool, GivesTheLastReleasedBlockFirst) {
  BlockPool pool(4);
  for (int count = 0; count < 4; ++count) {
    static_cast<void>(pool.take());
  }
  pool.release(1);
  pool.release(3);
  EXPECT_EQ(pool.take(), 3);
  EXPECT_EQ(pool.take(), 1);
}

TEST(BlockPool, KeepsASharedBlockUntilTheLastReference) {
  BlockPool pool(2);
  const BlockId block = pool.take();
  pool.add_reference(block);
  EXPECT_EQ(pool.num_references(block), 2);
  pool.release(block);
  EXPECT_EQ(pool.num_used(), 1);
  pool.release(block);
  EXPECT_EQ(pool.num_used(), 0);
  EXPECT_EQ(pool.num_references(block), 0);
}

TEST(BlockPoolDeath, RefusesMisuse) {
  BlockPool pool(1);
  EXPECT_DEATH(pool.release(0), "is free");
  EXPECT_DEATH(pool.add_reference(0), "is free");
  EXPECT_DEATH(static_cast<void>(pool.num_references(1)), "block 1 of 1");
  static_cast<void>(pool.take());
  EXPECT_DEATH(static_cast<void>(pool.take()), "taken");
}

}  // namespace
}  // namespace rapt
