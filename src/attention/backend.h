#pragma once

#include <memory>
#include <string_view>

#include "attention/kv_cache.h"
#include "attention/metadata.h"
#include "attention/spec.h"
#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// One way to compute attention over the paged cache. Every backend defines the same function up to
// rounding; results of one backend have the same bits however a prompt is cut, whoever shares the
// batch, and with any number of threads. Owned by the engine's runner, engine thread only.
class AttentionBackend {
 public:
  virtual ~AttentionBackend() = default;

  virtual std::string_view name() const = 0;
  virtual bool supports(const AttentionSpec& spec) const = 0;

  // Attends each row's heads to the keys its position may see. The step's own keys and values are
  // in the cache already.
  virtual void run(
      const Stream& stream,
      const AttentionSpec& spec,
      const KVLayerView& layer,
      const AttentionMetadata& metadata,
      Tensor q,   // [num_tokens, num_heads, head_dim] fp32
      Tensor out  // [num_tokens, num_heads, head_dim] fp32
  ) = 0;
};

// The plain backend that defines attention; supports everything. Serves positions below
// `max_positions`, with up to `num_threads` threads.
std::unique_ptr<AttentionBackend> make_cpu_ref_backend(int num_threads, int max_positions);

}  // namespace rapt
