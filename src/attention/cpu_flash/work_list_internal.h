#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/metadata.h"
#include "attention/spec.h"

namespace rapt::flash {

// What one worker does at a time: some tokens of one sequence, in one KV head, against some splits
// of their keys.
struct WorkItem {
  std::int32_t sequence_idx = 0;
  std::int32_t kv_head = 0;
  std::int32_t first_token = 0;  // counted from the sequence's first row
  std::int32_t num_tokens = 0;
  std::int64_t first_split = 0;
  std::int64_t end_split = 0;
  std::int64_t partial_offset = -1;  // floats; -1: the item has all splits that its tokens see
  std::int64_t cost = 0;             // rows times keys
};

// The work of one call of a backend. How it is divided changes no bit of the result (see
// kernel_internal.h), so it is divided for speed alone: no item is so large that the others would
// long wait for the thread that has it, should the machine put that thread aside.
class WorkList {
 public:
  // `max_partial_floats`: memory for the partial results of divided items.
  explicit WorkList(std::int64_t max_partial_floats);

  void fill(
      const AttentionSpec& spec,
      const AttentionMetadata& metadata,
      std::span<const std::int32_t> sequences,
      int num_threads
  );

  // Largest first.
  const std::vector<WorkItem>& items() const { return items_; }

  // What was divided, to be merged when all items are done.
  const std::vector<WorkItem>& merges() const { return merges_; }

 private:
  void divide(const WorkItem& whole, std::int64_t most, std::int64_t slot_floats);

  std::int64_t max_partial_floats_;
  std::int64_t num_partial_floats_ = 0;
  std::vector<WorkItem> wholes_;
  std::vector<WorkItem> items_;
  std::vector<WorkItem> merges_;
};

}  // namespace rapt::flash
