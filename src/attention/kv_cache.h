#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/dtype.h"
#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

struct AttentionMetadata;

// The K or V of one layer: block b, KV head h, slot s, dimension d lies at
// data[((b * num_kv_heads + h) * block_size + s) * head_dim + d].
struct KVLayerView {
  void* k = nullptr;
  void* v = nullptr;
  DType dtype = DType::kBF16;  // kBF16 or kF32
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t block_size = 0;

  std::int64_t block_stride() const { return num_kv_heads * block_size * head_dim; }
};

// The store of one group of layers that share block tables.
struct KVGroupLayout {
  int num_layers = 0;
  int num_blocks = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
};

// Device memory for the keys and values of all layers, sized once. Which block belongs to whom is
// kvcache/'s business. Owned by the engine, engine thread only. Memory is touched when it is first
// written, so an idle cache costs address space only.
class KVCache {
 public:
  static Result<KVCache> create(
      std::vector<KVGroupLayout> groups, std::int64_t block_size, DType dtype
  );

  // Bytes that one block of a group takes over all its layers, K and V.
  static std::uint64_t block_bytes(
      const KVGroupLayout& group, std::int64_t block_size, DType dtype
  );

  KVLayerView layer(int group_idx, int layer_in_group) const;

  DType dtype() const { return dtype_; }

  std::uint64_t num_bytes() const;

 private:
  std::vector<KVGroupLayout> groups_;
  std::vector<Buffer> stores_;
  std::int64_t block_size_ = 0;
  DType dtype_ = DType::kBF16;
};

// Puts the step's keys and values into the cache, rounded to its type (nearest even). Everything
// that attends reads them back from there, those of the same step too: else a chunk's bits would
// depend on where it was cut.
void write_kv(
    const Stream& stream,
    const KVLayerView& layer,
    const AttentionMetadata& metadata,
    int group_idx,
    Tensor k,  // [num_tokens, num_kv_heads, head_dim] fp32
    Tensor v   // [num_tokens, num_kv_heads, head_dim] fp32
);

}  // namespace rapt
