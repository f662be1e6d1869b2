#include "kvcache/kv_cache_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace rapt {
namespace {

using ::testing::ElementsAre;

constexpr KVGroupSpec kFull{.kind = KVGroupKind::kFull, .window = 0, .num_layers = 1};

constexpr KVGroupSpec sliding(int window) {
  return KVGroupSpec{.kind = KVGroupKind::kSliding, .window = window, .num_layers = 1};
}

TEST(KVGroup, ClaimsAllBlocksOfAFullGroup) {
  EXPECT_EQ(blocks_claimed(kFull, 16, 0), 0);
  EXPECT_EQ(blocks_claimed(kFull, 16, 16), 1);
  EXPECT_EQ(blocks_claimed(kFull, 16, 17), 2);
}

TEST(KVGroup, ClaimsTheBlocksThatAWindowCanTouch) {
  // 128 positions that start anywhere in a block of 16 touch at most 9 blocks.
  EXPECT_EQ(blocks_claimed(sliding(128), 16, 4096), 9);
  EXPECT_EQ(blocks_claimed(sliding(128), 16, 40), 3);
  EXPECT_EQ(blocks_claimed(sliding(1), 16, 4096), 1);
  EXPECT_EQ(blocks_claimed(sliding(2), 16, 4096), 2);
  EXPECT_EQ(blocks_claimed(sliding(17), 16, 4096), 2);
  EXPECT_EQ(blocks_claimed(sliding(18), 16, 4096), 3);
}

TEST(KVCacheManager, GrowsBlockByBlock) {
  KVCacheManager kv({kFull}, std::array{8}, 4);
  BlockTables tables;
  ASSERT_TRUE(kv.admit(tables, 20));
  EXPECT_EQ(kv.grow(tables, 0, 5), 5);
  EXPECT_THAT(tables.table(0), ElementsAre(0, 1));
  EXPECT_EQ(kv.grow(tables, 5, 3), 3);
  EXPECT_THAT(tables.table(0), ElementsAre(0, 1));
  EXPECT_EQ(kv.grow(tables, 8, 1), 1);
  EXPECT_THAT(tables.table(0), ElementsAre(0, 1, 2));
  EXPECT_EQ(kv.num_blocks_used(), 3);
  EXPECT_EQ(kv.num_blocks_total(), 8);
  EXPECT_DOUBLE_EQ(kv.usage(), 3.0 / 8.0);
  kv.release(tables);
  EXPECT_EQ(kv.num_blocks_used(), 0);
  EXPECT_FALSE(tables.is_admitted);
  ASSERT_TRUE(kv.admit(tables, 20));
  EXPECT_TRUE(tables.table(0).empty());
  kv.release(tables);
}

TEST(KVCacheManager, ReleaseOfANeverAdmittedSequenceIsFine) {
  KVCacheManager kv({kFull}, std::array{1}, 4);
  BlockTables tables;
  kv.release(tables);
  EXPECT_EQ(kv.num_blocks_used(), 0);
}

TEST(KVCacheManager, KnowsTheLongestSequence) {
  EXPECT_EQ(KVCacheManager({kFull}, std::array{8}, 4).max_positions(), 32);
  EXPECT_EQ(KVCacheManager({kFull, kFull}, std::array{8, 5}, 4).max_positions(), 20);
  // A window that fits never limits; one that does not still takes what fits in the pool.
  EXPECT_GT(KVCacheManager({sliding(8)}, std::array{3}, 4).max_positions(), 1'000'000);
  EXPECT_EQ(KVCacheManager({sliding(8)}, std::array{2}, 4).max_positions(), 8);
  EXPECT_EQ(KVCacheManager({kFull, sliding(8)}, std::array{9, 3}, 4).max_positions(), 36);
}

TEST(KVCacheManager, FreesWhatTheWindowHasLeft) {
  KVCacheManager kv({kFull, sliding(4)}, std::array{8, 8}, 2);
  BlockTables tables;
  ASSERT_TRUE(kv.admit(tables, 16));
  ASSERT_EQ(kv.grow(tables, 0, 8), 8);
  EXPECT_THAT(tables.table(1), ElementsAre(0, 1, 2, 3));
  // The query at 6 sees 3..6: block 0 (positions 0, 1) is behind, block 1 is not.
  kv.free_outside_window(tables, 6);
  EXPECT_THAT(tables.table(1), ElementsAre(BlockTables::kNoBlock, 1, 2, 3));
  kv.free_outside_window(tables, 7);
  EXPECT_THAT(tables.table(1), ElementsAre(-1, -1, 2, 3));
  EXPECT_THAT(tables.table(0), ElementsAre(0, 1, 2, 3));
  kv.free_outside_window(tables, 7);
  EXPECT_EQ(kv.pool(1).num_used(), 2);
  EXPECT_EQ(kv.grow(tables, 8, 1), 1);
  EXPECT_THAT(tables.table(1), ElementsAre(-1, -1, 2, 3, 1));
  kv.release(tables);
  EXPECT_EQ(kv.num_blocks_used(), 0);
}

TEST(KVCacheManager, PausesRatherThanBreakTheSafeState) {
  KVCacheManager kv({kFull}, std::array{4}, 1);
  BlockTables a;
  BlockTables b;
  ASSERT_TRUE(kv.admit(a, 4));
  ASSERT_TRUE(kv.admit(b, 4));
  EXPECT_EQ(kv.grow(a, 0, 2), 2);
  // b may not have one of the last two blocks: then neither could reach its four.
  EXPECT_EQ(kv.grow(b, 0, 1), 0);
  EXPECT_EQ(kv.num_blocks_used(), 2);
  EXPECT_EQ(kv.grow(a, 2, 1), 1);
  EXPECT_EQ(kv.grow(b, 0, 1), 0);
  kv.release(a);
  EXPECT_EQ(kv.grow(b, 0, 4), 4);
  kv.release(b);
}

TEST(KVCacheManager, GrantsAsMuchOfAChunkAsIsSafe) {
  KVCacheManager kv({kFull}, std::array{8}, 2);
  BlockTables a;
  BlockTables b;
  ASSERT_TRUE(kv.admit(a, 10));  // 5 blocks
  ASSERT_TRUE(kv.admit(b, 16));  // 8 blocks
  ASSERT_EQ(kv.grow(a, 0, 4), 4);
  // 6 are free and a needs 3 more: b may have 3 blocks, 6 positions of the 7 it asks for.
  EXPECT_EQ(kv.grow(b, 0, 7), 6);
  EXPECT_EQ(kv.grow(b, 6, 1), 0);
  EXPECT_EQ(kv.grow(a, 4, 6), 6);
  kv.release(a);
  EXPECT_EQ(kv.grow(b, 6, 10), 10);
  kv.release(b);
}

TEST(KVCacheManager, AdmitsWhileWindowsCanBeReserved) {
  KVCacheManager kv({sliding(4)}, std::array{7}, 2);  // a window touches 3 blocks
  std::array<BlockTables, 3> sequences;
  EXPECT_TRUE(kv.admit(sequences[0], 100));
  EXPECT_TRUE(kv.admit(sequences[1], 100));
  EXPECT_FALSE(kv.admit(sequences[2], 100));
  EXPECT_FALSE(sequences[2].is_admitted);
  EXPECT_TRUE(kv.admit(sequences[2], 2));  // one block is all it will ever need
  for (BlockTables& tables : sequences) {
    kv.release(tables);
  }
}

TEST(KVCacheManager, LendsUnreservedWindowBlocksToChunks) {
  KVCacheManager kv({sliding(4)}, std::array{8}, 2);
  BlockTables a;
  BlockTables b;
  ASSERT_TRUE(kv.admit(a, 100));
  ASSERT_TRUE(kv.admit(b, 100));
  // 3 of its own and the 2 that nobody has reserved.
  EXPECT_EQ(kv.grow(a, 0, 50), 10);
  EXPECT_EQ(kv.grow(b, 0, 50), 6);
  EXPECT_EQ(kv.pool(0).num_free(), 0);
  kv.free_outside_window(a, 10);
  EXPECT_EQ(a.tables[0].num_held(), 2);
  EXPECT_EQ(kv.grow(a, 10, 50), 6);
  kv.free_outside_window(b, 6);
  EXPECT_EQ(kv.grow(b, 6, 1), 1);
  kv.release(a);
  kv.release(b);
  EXPECT_EQ(kv.num_blocks_used(), 0);
}

TEST(KVCacheManagerDeath, RefusesWhatCanNeverFit) {
  KVCacheManager kv({kFull}, std::array{2}, 4);
  BlockTables tables;
  EXPECT_DEATH(static_cast<void>(kv.admit(tables, 9)), "max_positions=9");
  ASSERT_TRUE(kv.admit(tables, 8));
  EXPECT_DEATH(static_cast<void>(kv.grow(tables, 0, 9)), "9 > 8");
  kv.release(tables);
}

}  // namespace
}  // namespace rapt
