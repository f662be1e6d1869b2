#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rapt {

// Consecutive rows of a step's batch that belong to one sequence.
struct SequenceRows {
  std::int32_t first_row = 0;
  std::int32_t num_rows = 0;
  std::int32_t first_position = 0;  // row first_row + i has position first_position + i
  // One table a KV group: block of position p is table[p / block_size].
  std::vector<std::span<const std::int32_t>> block_tables;
};

// What attention needs to know of a step: whose rows are where. Made once a step by the runner and
// reused from step to step; only the first `num_sequences` entries count.
struct AttentionMetadata {
  std::vector<SequenceRows> sequences;
  std::int32_t num_sequences = 0;
  std::int32_t num_tokens = 0;
  std::vector<std::int32_t> sequence_of_row;  // [num_tokens]
};

}  // namespace rapt
