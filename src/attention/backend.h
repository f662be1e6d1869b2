#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "attention/kv_cache.h"
#include "attention/metadata.h"
#include "attention/spec.h"
#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// One way to compute attention over the paged cache. Every backend defines the same function up to
// rounding; results of one backend have the same bits however a prompt is cut, whoever shares the
// batch, and with any number of threads. Owned by the step's PlannedAttention, engine thread only.
class AttentionBackend {
 public:
  virtual ~AttentionBackend() = default;

  virtual std::string_view name() const = 0;
  virtual bool supports(const AttentionSpec& spec) const = 0;

  // Attends the heads of the rows of the sequences named in `sequences` to the keys that each row's
  // position may see, and writes those rows of `out`; other rows stay as they are. The step's own
  // keys and values are in the cache already. Slots of the cache that no row may see can hold
  // anything, NaN included.
  virtual void run(
      const Stream& stream,
      const AttentionSpec& spec,
      const KVLayerView& layer,
      const AttentionMetadata& metadata,
      std::span<const std::int32_t> sequences,  // indices into metadata.sequences
      Tensor q,                                 // [num_tokens, num_heads, head_dim] fp32
      Tensor out                                // [num_tokens, num_heads, head_dim] fp32
  ) = 0;
};

// The plain backend that defines attention; supports everything. Serves positions below
// `max_positions`, with up to `num_threads` threads.
std::unique_ptr<AttentionBackend> make_cpu_ref_backend(int num_threads, int max_positions);

}  // namespace rapt
