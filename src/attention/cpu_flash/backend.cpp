#include "attention/backend.h"

#include <algorithm>
#include <utility>

#include "attention/cpu_flash/backend_internal.h"
#include "attention/cpu_flash/kernel_internal.h"
#include "attention/cpu_flash/work_list_internal.h"
#include "tensor/buffer.h"

namespace rapt {

namespace cpu::scalar {
extern const flash::Kernels kFlashKernels;
}

namespace cpu::avx2 {
extern const flash::Kernels kFlashKernels;
}

namespace cpu::avx512 {
extern const flash::Kernels kFlashKernels;
}

namespace {

constexpr KernelBuilds<const flash::Kernels*> kBuilds = {
    .reference = &flash::kRefKernels,
    .scalar = &cpu::scalar::kFlashKernels,
    .avx2 = &cpu::avx2::kFlashKernels,
    .avx512 = &cpu::avx512::kFlashKernels,
};

class CpuFlashBackend : public AttentionBackend {
 public:
  CpuFlashBackend(int num_threads, Buffer scratch, Buffer partials)
      : num_threads_(num_threads),
        scratch_(std::move(scratch)),
        partials_(std::move(partials)),
        work_(static_cast<std::int64_t>(partials_.num_bytes() / sizeof(float))) {}

  std::string_view name() const override { return "cpu-flash"; }

  bool supports(const AttentionSpec& spec) const override {
    return spec.num_kv_heads > 0 && spec.num_heads % spec.num_kv_heads == 0 &&
           spec.num_heads / spec.num_kv_heads <= flash::kMaxRatio && spec.head_dim > 0 &&
           spec.head_dim % 16 == 0 && spec.head_dim <= flash::kMaxHeadDim;
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
    CHECK(supports(spec), "heads ", spec.num_heads, " dim ", spec.head_dim);
    const flash::Kernels& kernels = *kBuilds.at(stream.level);
    const std::int64_t ratio = spec.num_heads / spec.num_kv_heads;
    work_.fill(spec, metadata, sequences, stream.pool->num_threads());
    const auto piece_of = [&](const flash::WorkItem& item, int worker_idx) {
      const SequenceRows& rows = metadata.sequences[static_cast<std::size_t>(item.sequence_idx)];
      const std::int64_t first =
          ((rows.first_row + item.first_token) * spec.num_heads + item.kv_head * ratio) *
          spec.head_dim;
      return flash::Piece{
          .q = q.f32() + first,
          .out = out.f32() + first,
          .token_stride = spec.num_heads * spec.head_dim,
          .num_tokens = item.num_tokens,
          .ratio = ratio,
          .first_position = rows.first_position + item.first_token,
          .window = spec.window,
          .scale = spec.scale,
          .soft_cap = spec.soft_cap,
          .sinks = spec.sinks.of_head(item.kv_head * ratio),
          .layer = &layer,
          .kv_head = item.kv_head,
          .head_stride = layer.head_stride(),
          .block_stride = layer.block_stride(),
          .block_table = rows.block_tables[static_cast<std::size_t>(spec.group_idx)].data(),
          .first_split = item.first_split,
          .end_split = item.end_split,
          .partials = item.partial_offset < 0 ? nullptr : floats(partials_) + item.partial_offset,
          .scratch = floats(scratch_) + worker_idx * flash::kScratchFloats,
      };
    };
    const auto run_all = [&](const std::vector<flash::WorkItem>& items, auto kernel) {
      const auto count = static_cast<std::int64_t>(items.size());
      stream.pool->parallel_for_workers(
          count,
          count / (64 * num_threads_) + 1,
          [&](int worker_idx, std::int64_t begin, std::int64_t end) {
            for (std::int64_t idx = begin; idx < end; ++idx) {
              kernel(piece_of(items[static_cast<std::size_t>(idx)], worker_idx));
            }
          }
      );
    };
    run_all(work_.items(), kernels.attend);
    run_all(work_.merges(), kernels.merge);
  }

 private:
  static float* floats(const Buffer& buffer) { return static_cast<float*>(buffer.data()); }

  int num_threads_;
  Buffer scratch_;   // [num_threads, kScratchFloats]
  Buffer partials_;  // of divided items
  flash::WorkList work_;
};

}  // namespace

std::unique_ptr<AttentionBackend> make_cpu_flash_backend(int num_threads, int max_positions) {
  // Room for the partial results of 256 rows (four tokens of 64 heads) of the longest sequence, at
  // head size 64. What finds no room is not divided.
  const std::int64_t num_splits = max_positions / flash::kSplit + 1;
  const std::int64_t partial_floats = num_splits * flash::partial_floats(256, 64);
  auto scratch = Buffer::allocate(
      static_cast<std::uint64_t>(num_threads * flash::kScratchFloats) * sizeof(float),
      "the scratch memory of cpu-flash"
  );
  auto partials = Buffer::allocate(
      static_cast<std::uint64_t>(partial_floats) * sizeof(float), "the partial results of cpu-flash"
  );
  CHECK(scratch && partials, "out of address space");
  return std::make_unique<CpuFlashBackend>(num_threads, *std::move(scratch), *std::move(partials));
}

}  // namespace rapt
