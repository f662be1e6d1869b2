#pragma once

#include <cstdint>
#include <vector>

#include "attention/kv_layout.h"
#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/dtype.h"
#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

struct AttentionMetadata;

// The store of one group of layers that share block tables.
struct KVGroupLayout {
  int num_layers = 0;
  int num_blocks = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  DType dtype = DType::kBF16;  // kBF16, kF32 or kF8E4M3
};

// Device memory for the keys and values of all layers, sized once. Which block belongs to whom is
// kvcache/'s business. Owned by the engine, engine thread only. Memory is touched when it is first
// written, so an idle cache costs address space only.
class KVCache {
 public:
  // `block_size`: a multiple of 16. head_dim: a multiple of 4 over the dtype's size.
  static Result<KVCache> create(std::vector<KVGroupLayout> groups, std::int64_t block_size);

  // Bytes that one block of a group takes over all its layers, K and V.
  static std::uint64_t block_bytes(const KVGroupLayout& group, std::int64_t block_size);

  KVLayerView layer(int group_idx, int layer_in_group) const;

  std::uint64_t num_bytes() const;

 private:
  std::vector<KVGroupLayout> groups_;
  std::vector<Buffer> stores_;  // one a group: each layer's pieces, then each layer's scales
  std::int64_t block_size_ = 0;
};

// Puts the step's keys and values into the cache, rounded to its type (nearest even). Everything
// that attends reads them back from there, those of the same step too: else a chunk's bits would
// depend on where it was cut.
//
// F8 (E4M3: 3 bits after the point, up to 448) has one scale for the K and one for the V of a KV
// head in a block. It is the power of two that puts the greatest element of the block's first token
// between 14 and 28, so later tokens can be 16 times as great before they are cut off at 448, and
// no element's bits depend on a token after it. (It is 2^7 at most: above 57344 all is cut off.) An
// element that is not cut off is stored within 1/16 of itself, or within 2^-10 of the scale where
// that is more.
void write_kv(
    const Stream& stream,
    const KVLayerView& layer,
    const AttentionMetadata& metadata,
    int group_idx,
    Tensor k,  // [num_tokens, num_kv_heads, head_dim] fp32
    Tensor v   // [num_tokens, num_kv_heads, head_dim] fp32
);

// The scale that F8 gives a block whose first token has `first` in one KV head.
float f8_scale(const float* first, std::int64_t head_dim);

}  // namespace rapt
