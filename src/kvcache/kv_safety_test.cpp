// The promise of KVCacheManager against brute force: small random crowds of sequences, each step
// compared with a search over all orders, and many runs to the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "kvcache/kv_cache_manager.h"

namespace rapt {
namespace {

struct Holding {
  int held = 0;
  int claim = 0;
};

// Is there an order in which all can finish? Tries each.
bool some_order_works(const std::vector<Holding>& holdings, int num_free) {
  std::vector<std::size_t> order(holdings.size());
  std::iota(order.begin(), order.end(), 0U);
  do {
    int available = num_free;
    bool works = true;
    for (const std::size_t idx : order) {
      if (holdings[idx].claim - holdings[idx].held > available) {
        works = false;
        break;
      }
      available += holdings[idx].held;
    }
    if (works) {
      return true;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

TEST(KVSafety, GrantsExactlyWhatSomeOrderAllows) {
  std::mt19937 random(7);
  int num_refusals = 0;
  for (int round = 0; round < 2000; ++round) {
    const int num_blocks = 3 + static_cast<int>(random() % 8);
    KVCacheManager kv({KVGroupSpec{}}, std::array{num_blocks}, 1);
    std::array<BlockTables, 5> crowd;
    std::vector<Holding> holdings;
    for (BlockTables& tables : crowd) {
      const int claim = 1 + static_cast<int>(random() % static_cast<unsigned>(num_blocks));
      ASSERT_TRUE(kv.admit(tables, claim));
      holdings.push_back(Holding{.held = 0, .claim = claim});
    }
    for (int turn = 0; turn < 12; ++turn) {
      const std::size_t who = random() % crowd.size();
      Holding& holding = holdings[who];
      if (holding.held == holding.claim) {
        continue;
      }
      const int wanted =
          1 + static_cast<int>(random() % static_cast<unsigned>(holding.claim - holding.held));
      int expected = std::min(wanted, kv.pool(0).num_free());
      for (; expected > 0; --expected) {
        std::vector<Holding> after = holdings;
        after[who].held += expected;
        if (some_order_works(after, kv.pool(0).num_free() - expected)) {
          break;
        }
      }
      ASSERT_EQ(kv.grow(crowd[who], holding.held, wanted), expected);
      holding.held += expected;
      num_refusals += expected < wanted ? 1 : 0;
    }
    for (BlockTables& tables : crowd) {
      kv.release(tables);
    }
    ASSERT_EQ(kv.num_blocks_used(), 0);
  }
  EXPECT_GT(num_refusals, 1000);  // the rounds were tight enough to mean something
}

struct Runner {
  BlockTables tables;
  int position = 0;
  int length = 0;
};

// Any mix of groups, any order of turns: while somebody is unfinished, somebody can go on, and
// sliding groups never stand in the way of one more token.
TEST(KVSafety, SomebodyCanAlwaysGoOn) {
  std::mt19937 random(11);
  const auto pick = [&random](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int round = 0; round < 1500; ++round) {
    const int block_size = pick(1, 4);
    std::vector<KVGroupSpec> groups;
    std::vector<int> num_blocks;
    for (int count = pick(1, 3); count > 0; --count) {
      KVGroupSpec group{.kind = KVGroupKind::kSliding, .window = pick(1, 9), .num_layers = 1};
      if (pick(0, 1) == 0) {
        group = KVGroupSpec{};
      }
      groups.push_back(group);
      num_blocks.push_back(pick(3, 12));
    }
    const bool all_sliding = std::all_of(groups.begin(), groups.end(), [](const KVGroupSpec& g) {
      return g.kind == KVGroupKind::kSliding;
    });
    KVCacheManager kv(groups, num_blocks, block_size);
    const int longest = std::min(kv.max_positions(), 60);
    std::vector<std::unique_ptr<Runner>> running;
    int num_to_start = 12;
    while (num_to_start > 0 || !running.empty()) {
      if (num_to_start > 0 && (running.empty() || pick(0, 3) == 0)) {
        auto runner = std::make_unique<Runner>();
        runner->length = pick(1, longest);
        const bool admitted = kv.admit(runner->tables, runner->length);
        ASSERT_TRUE(admitted || !running.empty()) << "an empty cache refused";
        if (admitted) {
          --num_to_start;
          running.push_back(std::move(runner));
        }
      }
      std::shuffle(running.begin(), running.end(), random);
      bool anybody = false;
      for (auto& runner : running) {
        const int wanted = std::min(pick(1, 7), runner->length - runner->position);
        const int granted = kv.grow(runner->tables, runner->position, wanted);
        ASSERT_LE(granted, wanted);
        ASSERT_TRUE(granted > 0 || !all_sliding);
        anybody = anybody || granted > 0;
        for (std::size_t group_idx = 0; group_idx < groups.size(); ++group_idx) {
          // Each position that a query of this chunk sees has a block.
          const auto table = runner->tables.table(static_cast<int>(group_idx));
          const int reach = groups[group_idx].kind == KVGroupKind::kFull
                                ? runner->position
                                : groups[group_idx].window - 1;
          for (int position = std::max(0, runner->position - reach);
               position < runner->position + granted;
               ++position) {
            ASSERT_GE(table[static_cast<std::size_t>(position / block_size)], 0);
          }
        }
        runner->position += granted;
        kv.free_outside_window(runner->tables, runner->position);
        if (runner->position == runner->length) {
          kv.release(runner->tables);
        }
      }
      std::erase_if(running, [](const auto& runner) { return runner->position == runner->length; });
      ASSERT_TRUE(anybody || running.empty()) << "nobody can go on";
    }
    ASSERT_EQ(kv.num_blocks_used(), 0);
  }
}

}  // namespace
}  // namespace rapt
