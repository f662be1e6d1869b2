#include "kvcache/kv_cache_manager.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace rapt {

namespace {

// max_positions() where nothing grows with the length; far below overflow in sums of two.
constexpr int kUnlimitedPositions = 1 << 30;

// Reserved for it, but not yet in its hands.
int outstanding_reserve(const BlockTables::Table& table) {
  return std::max(0, table.claim - table.num_held());
}

}  // namespace

KVCacheManager::KVCacheManager(
    std::vector<KVGroupSpec> groups, std::span<const int> num_blocks, int block_size
)
    : groups_(std::move(groups)), block_size_(block_size) {
  CHECK(block_size > 0, "block_size=", block_size);
  CHECK(groups_.size() == num_blocks.size(), groups_.size(), " groups, ", num_blocks.size());
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    const KVGroupSpec& group = groups_[group_idx];
    CHECK(group.kind == KVGroupKind::kFull || group.window > 0, "window=", group.window);
    pools_.emplace_back(num_blocks[group_idx]);
  }
}

int KVCacheManager::max_positions() const {
  int longest = kUnlimitedPositions;
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    const int num_blocks = pools_[group_idx].num_blocks();
    if (blocks_claimed(groups_[group_idx], block_size_, longest) > num_blocks) {
      longest = num_blocks * block_size_;
    }
  }
  return longest;
}

bool KVCacheManager::admit(BlockTables& tables, int max_positions) {
  CHECK(!tables.is_admitted, "admitted twice");
  CHECK(max_positions <= this->max_positions(), "max_positions=", max_positions);
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    const KVGroupSpec& group = groups_[group_idx];
    if (group.kind == KVGroupKind::kSliding &&
        blocks_claimed(group, block_size_, max_positions) > unreserved_sliding(group_idx)) {
      return false;
    }
  }
  tables.is_admitted = true;
  tables.max_positions = max_positions;
  tables.tables.resize(groups_.size());
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    BlockTables::Table& table = tables.tables[group_idx];
    table.claim = blocks_claimed(groups_[group_idx], block_size_, max_positions);
    table.blocks.reserve(to_index(blocks_for(max_positions, block_size_)));
  }
  admitted_.push_back(&tables);
  needs_.reserve(admitted_.size());
  return true;
}

int KVCacheManager::grow(BlockTables& tables, int first_position, int num_positions) {
  const int wanted_end = first_position + num_positions;
  CHECK(first_position >= 0 && num_positions > 0, first_position, " + ", num_positions);
  CHECK(wanted_end <= tables.max_positions, wanted_end, " > ", tables.max_positions);

  // The least that any group can give decides for all: granting fewer blocks than is safe is safe.
  // All full groups of a sequence hold and claim the same number, so that one order serves them all
  // and each can be judged alone.
  int end_block = blocks_for(wanted_end, block_size_);
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    const BlockTables::Table& table = tables.tables[group_idx];
    const int num_present = static_cast<int>(table.blocks.size());
    if (end_block > num_present) {
      const int wanted = end_block - num_present;
      const int grantable = groups_[group_idx].kind == KVGroupKind::kFull
                                ? grantable_full(tables, group_idx, wanted)
                                : outstanding_reserve(table) + unreserved_sliding(group_idx);
      end_block = num_present + std::min(wanted, grantable);
    }
  }
  const int granted_end = std::min(wanted_end, end_block * block_size_);
  if (granted_end <= first_position) {
    return 0;
  }
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    std::vector<BlockId>& blocks = tables.tables[group_idx].blocks;
    while (static_cast<int>(blocks.size()) < end_block) {
      blocks.push_back(pools_[group_idx].take());
    }
  }
  return granted_end - first_position;
}

void KVCacheManager::free_outside_window(BlockTables& tables, int next_position) {
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    if (groups_[group_idx].kind != KVGroupKind::kSliding) {
      continue;
    }
    BlockTables::Table& table = tables.tables[group_idx];
    const int first_visible = std::max(0, next_position - (groups_[group_idx].window - 1));
    const int num_unseen =
        std::min(first_visible / block_size_, static_cast<int>(table.blocks.size()));
    for (; table.num_dropped < num_unseen; ++table.num_dropped) {
      BlockId& block = table.blocks[to_index(table.num_dropped)];
      pools_[group_idx].release(std::exchange(block, BlockTables::kNoBlock));
    }
  }
}

void KVCacheManager::release(BlockTables& tables) {
  if (!tables.is_admitted) {
    return;
  }
  for (std::size_t group_idx = 0; group_idx < groups_.size(); ++group_idx) {
    BlockTables::Table& table = tables.tables[group_idx];
    // Last block first, so that the next sequence gets them in this one's order.
    for (std::size_t idx = table.blocks.size(); idx > to_index(table.num_dropped); --idx) {
      pools_[group_idx].release(table.blocks[idx - 1]);
    }
    table.blocks.clear();
    table.num_dropped = 0;
  }
  const auto entry = std::find(admitted_.begin(), admitted_.end(), &tables);
  CHECK(entry != admitted_.end(), "these tables are not of this manager");
  admitted_.erase(entry);
  tables.is_admitted = false;
}

int KVCacheManager::grantable_full(const BlockTables& tables, std::size_t group_idx, int wanted) {
  // Giving one block less keeps a safe order safe, so the largest grant can be searched by halving.
  int granted = 0;
  int refused = std::min(wanted, pools_[group_idx].num_free()) + 1;
  int trial = refused - 1;  // mostly all of it is fine
  while (refused - granted > 1) {
    (is_safe_after(tables, group_idx, trial) ? granted : refused) = trial;
    trial = granted + (refused - granted) / 2;
  }
  return granted;
}

bool KVCacheManager::is_safe_after(const BlockTables& tables, std::size_t group_idx, int granted) {
  needs_.clear();
  int num_free = pools_[group_idx].num_free() - granted;
  int total_remaining = 0;
  for (const BlockTables* other : admitted_) {
    const BlockTables::Table& table = other->tables[group_idx];
    const int held = table.num_held() + (other == &tables ? granted : 0);
    needs_.push_back(Need{.remaining = table.claim - held, .held = held});
    total_remaining += needs_.back().remaining;
  }
  if (total_remaining <= num_free) {
    return true;
  }
  // If any order works, then the one by what is still missing does: whoever ends only adds blocks.
  std::sort(needs_.begin(), needs_.end(), [](const Need& a, const Need& b) {
    return a.remaining < b.remaining;
  });
  for (const Need& need : needs_) {
    if (need.remaining > num_free) {
      return false;
    }
    num_free += need.held;
  }
  return true;
}

int KVCacheManager::unreserved_sliding(std::size_t group_idx) const {
  int unreserved = pools_[group_idx].num_free();
  for (const BlockTables* tables : admitted_) {
    unreserved -= outstanding_reserve(tables->tables[group_idx]);
  }
  DCHECK(unreserved >= 0, "group ", group_idx, " is over-committed by ", -unreserved);
  return unreserved;
}

int KVCacheManager::num_blocks_used() const {
  int used = 0;
  for (const BlockPool& pool : pools_) {
    used += pool.num_used();
  }
  return used;
}

int KVCacheManager::num_blocks_total() const {
  int total = 0;
  for (const BlockPool& pool : pools_) {
    total += pool.num_blocks();
  }
  return total;
}

double KVCacheManager::usage() const {
  double fullest = 0.0;
  for (const BlockPool& pool : pools_) {
    if (pool.num_blocks() > 0) {
      fullest = std::max(fullest, static_cast<double>(pool.num_used()) / pool.num_blocks());
    }
  }
  return fullest;
}

}  // namespace rapt
