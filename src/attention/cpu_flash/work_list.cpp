#include <algorithm>

#include "attention/cpu_flash/kernel_internal.h"
#include "attention/cpu_flash/work_list_internal.h"

namespace rapt::flash {

namespace {

// Few enough that their cost does not show, enough to even out what threads get.
constexpr std::int64_t kItemsPerThread = 8;

}  // namespace

WorkList::WorkList(std::int64_t max_partial_floats) : max_partial_floats_(max_partial_floats) {
  constexpr std::size_t kUsualItems = 4096;
  wholes_.reserve(kUsualItems);
  items_.reserve(kUsualItems);
  merges_.reserve(kUsualItems);
}

void WorkList::fill(
    const AttentionSpec& spec,
    const AttentionMetadata& metadata,
    std::span<const std::int32_t> sequences,
    int num_threads
) {
  wholes_.clear();
  items_.clear();
  merges_.clear();
  num_partial_floats_ = 0;
  const std::int64_t ratio = spec.num_heads / spec.num_kv_heads;
  const std::int64_t max_tokens = kMaxRows / ratio;
  std::int64_t cost = 0;
  for (const std::int32_t sequence_idx : sequences) {
    const SequenceRows& rows = metadata.sequences[static_cast<std::size_t>(sequence_idx)];
    for (std::int64_t token = 0; token < rows.num_rows; token += max_tokens) {
      const std::int64_t num_tokens = std::min(max_tokens, rows.num_rows - token);
      const std::int64_t position = rows.first_position + token;
      const std::int64_t first_key = first_visible(position, spec.window);
      const std::int64_t last_key = position + num_tokens - 1;
      WorkItem item = {
          .sequence_idx = sequence_idx,
          .first_token = static_cast<std::int32_t>(token),
          .num_tokens = static_cast<std::int32_t>(num_tokens),
          .first_split = first_key / kSplit,
          .end_split = last_key / kSplit + 1,
          .cost = num_tokens * ratio * (last_key + 1 - first_key),
      };
      for (item.kv_head = 0; item.kv_head < spec.num_kv_heads; ++item.kv_head) {
        wholes_.push_back(item);
      }
      cost += item.cost * spec.num_kv_heads;
    }
  }
  const std::int64_t most = num_threads > 1 ? cost / (num_threads * kItemsPerThread) + 1 : cost;
  for (const WorkItem& whole : wholes_) {
    divide(whole, most, partial_floats(whole.num_tokens * ratio, spec.head_dim));
  }
  std::sort(items_.begin(), items_.end(), [](const WorkItem& a, const WorkItem& b) {
    return a.cost > b.cost;
  });
}

void WorkList::divide(const WorkItem& whole, std::int64_t most, std::int64_t slot_floats) {
  const std::int64_t num_splits = whole.end_split - whole.first_split;
  const std::int64_t num_parts = std::min(num_splits, (whole.cost + most - 1) / most);
  const std::int64_t needed = num_splits * slot_floats;
  if (num_parts <= 1 || num_partial_floats_ + needed > max_partial_floats_) {
    items_.push_back(whole);
    return;
  }
  WorkItem all = whole;
  all.partial_offset = num_partial_floats_;
  num_partial_floats_ += needed;
  merges_.push_back(all);
  for (std::int64_t part = 0; part < num_parts; ++part) {
    WorkItem item = all;
    item.first_split = whole.first_split + num_splits * part / num_parts;
    item.end_split = whole.first_split + num_splits * (part + 1) / num_parts;
    item.partial_offset += (item.first_split - whole.first_split) * slot_floats;
    item.cost = whole.cost * (item.end_split - item.first_split) / num_splits;
    items_.push_back(item);
  }
}

}  // namespace rapt::flash
