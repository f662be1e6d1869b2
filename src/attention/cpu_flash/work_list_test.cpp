#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "attention/cpu_flash/kernel_internal.h"
#include "attention/cpu_flash/work_list_internal.h"

namespace rapt::flash {
namespace {

struct Step {
  AttentionMetadata metadata;
  std::vector<std::int32_t> sequences;

  void add(int first_position, int num_rows) {
    sequences.push_back(metadata.num_sequences++);
    metadata.sequences.push_back(
        {.first_row = metadata.num_tokens,
         .num_rows = num_rows,
         .first_position = first_position,
         .block_tables = {}}
    );
    metadata.num_tokens += num_rows;
  }
};

AttentionSpec spec_of(std::int64_t window) {
  return {
      .num_heads = 64, .num_kv_heads = 8, .head_dim = 64, .window = window, .sinks = Sinks::none()};
}

constexpr std::int64_t kPlenty = std::int64_t{1} << 30;

// Every token, KV head and split that is to be computed is in one item exactly.
void expect_complete(const WorkList& work, const Step& step, std::int64_t window) {
  std::map<std::tuple<int, int, int>, std::set<std::int64_t>> splits;
  for (const WorkItem& item : work.items()) {
    EXPECT_LE(item.num_tokens * 8, kMaxRows);
    for (int token = 0; token < item.num_tokens; ++token) {
      auto& seen = splits[{item.sequence_idx, item.kv_head, item.first_token + token}];
      for (std::int64_t split = item.first_split; split < item.end_split; ++split) {
        EXPECT_TRUE(seen.insert(split).second) << "twice";
      }
    }
  }
  std::size_t num_rows = 0;
  for (std::int32_t idx = 0; idx < step.metadata.num_sequences; ++idx) {
    const SequenceRows& rows = step.metadata.sequences[static_cast<std::size_t>(idx)];
    for (int token = 0; token < rows.num_rows; ++token) {
      for (int kv_head = 0; kv_head < 8; ++kv_head, ++num_rows) {
        const auto& seen = splits[{idx, kv_head, token}];
        const std::int64_t position = rows.first_position + token;
        for (std::int64_t split = first_visible(position, window) / kSplit;
             split <= position / kSplit;
             ++split) {
          EXPECT_TRUE(seen.contains(split)) << "sequence " << idx << " split " << split;
        }
      }
    }
  }
  EXPECT_EQ(splits.size(), num_rows);
}

TEST(WorkList, HoldsEverythingOnce) {
  for (const std::int64_t window : {0, 128}) {
    for (const int num_threads : {1, 2, 32}) {
      Step step;
      step.add(100000, 1);
      step.add(0, 1);
      step.add(300, 77);
      step.add(5000, 3);
      WorkList work(kPlenty);
      work.fill(spec_of(window), step.metadata, step.sequences, num_threads);
      expect_complete(work, step, window);
    }
  }
}

TEST(WorkList, DividesOneLongSequenceEvenly) {
  Step step;
  step.add(131071, 1);
  WorkList work(kPlenty);
  work.fill(spec_of(0), step.metadata, step.sequences, 2);
  EXPECT_GE(work.items().size(), 16U);
  EXPECT_EQ(work.merges().size(), 8U);
  // Largest first, and none much larger than another.
  EXPECT_GE(work.items().front().cost, work.items().back().cost);
  EXPECT_LE(work.items().front().cost, work.items().back().cost * 11 / 10);
  // Slots for partial results do not overlap.
  std::set<std::int64_t> slots;
  for (const WorkItem& item : work.items()) {
    for (std::int64_t split = 0; split < item.end_split - item.first_split; ++split) {
      EXPECT_TRUE(slots.insert(item.partial_offset + split * partial_floats(8, 64)).second);
    }
  }
  EXPECT_EQ(slots.size(), 8U * 256U);
}

TEST(WorkList, DividesNothingWithoutNeedOrRoom) {
  Step one;
  one.add(131071, 1);
  WorkList alone(kPlenty);
  alone.fill(spec_of(0), one.metadata, one.sequences, 1);
  EXPECT_EQ(alone.items().size(), 8U);
  WorkList no_room(1000);
  no_room.fill(spec_of(0), one.metadata, one.sequences, 2);
  EXPECT_EQ(no_room.items().size(), 8U);
  EXPECT_TRUE(no_room.merges().empty());
  Step many;
  for (int idx = 0; idx < 64; ++idx) {
    many.add(2000, 1);
  }
  WorkList enough(kPlenty);
  enough.fill(spec_of(0), many.metadata, many.sequences, 2);
  EXPECT_EQ(enough.items().size(), 512U);
  EXPECT_TRUE(enough.merges().empty());
}

}  // namespace
}  // namespace rapt::flash
