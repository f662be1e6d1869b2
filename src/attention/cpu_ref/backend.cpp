#include "attention/backend.h"

#include <algorithm>
#include <vector>

#include "attention/cpu_ref/kernel_internal.h"

namespace rapt {

namespace {

class CpuRefBackend : public AttentionBackend {
 public:
  CpuRefBackend(int num_threads, int max_positions)
      : num_threads_(num_threads), max_positions_(max_positions) {}

  std::string_view name() const override { return "cpu-ref"; }

  bool supports(const AttentionSpec& spec) const override {
    return spec.num_kv_heads > 0 && spec.num_heads % spec.num_kv_heads == 0;
  }

  void run(
      const Stream& stream,
      const AttentionSpec& spec,
      const KVLayerView& layer,
      const AttentionMetadata& metadata,
      std::span<const std::int32_t> sequences,
      Tensor q,
      Tensor out
  ) override {
    CHECK(q.shape() == (Shape{metadata.num_tokens, spec.num_heads, spec.head_dim}));
    CHECK(out.shape() == q.shape() && stream.pool->num_threads() <= num_threads_);
    const std::int64_t scratch_size = max_positions_ + spec.head_dim;
    scratch_.resize(static_cast<std::size_t>(num_threads_ * scratch_size));
    const auto attend_item = [&](const SequenceRows& rows, int worker_idx, std::int64_t item) {
      const std::int64_t row = item / spec.num_heads;
      const std::int64_t head = item % spec.num_heads;
      float* scratch = scratch_.data() + worker_idx * scratch_size;
      const std::int64_t position = rows.first_position + (row - rows.first_row);
      ref::attend(ref::AttendRow{
          .q = q.f32() + item * spec.head_dim,
          .out = out.f32() + item * spec.head_dim,
          .scale = spec.scale,
          .soft_cap = spec.soft_cap,
          .sink = spec.sinks.of_head(head),
          .first_position =
              spec.window > 0 ? std::max<std::int64_t>(position - spec.window + 1, 0) : 0,
          .end_position = position + 1,
          .layer = &layer,
          .kv_head = head / (spec.num_heads / spec.num_kv_heads),
          .block_table = rows.block_tables[static_cast<std::size_t>(spec.group_idx)].data(),
          .scores = scratch,
          .key = scratch + max_positions_,
      });
    };
    for (const std::int32_t sequence_idx : sequences) {
      const SequenceRows& rows = metadata.sequences[static_cast<std::size_t>(sequence_idx)];
      const std::int64_t first_item = rows.first_row * spec.num_heads;
      stream.pool->parallel_for_workers(
          rows.num_rows * spec.num_heads,
          4,
          [&](int worker_idx, std::int64_t begin, std::int64_t end) {
            for (std::int64_t item = begin; item < end; ++item) {
              attend_item(rows, worker_idx, first_item + item);
            }
          }
      );
    }
  }

 private:
  int num_threads_;
  std::int64_t max_positions_;
  std::vector<float> scratch_;  // [num_threads, max_positions + head_dim]
};

}  // namespace

std::unique_ptr<AttentionBackend> make_cpu_ref_backend(int num_threads, int max_positions) {
  return std::make_unique<CpuRefBackend>(num_threads, max_positions);
}

}  // namespace rapt
