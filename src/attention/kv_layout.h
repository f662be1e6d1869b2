#pragma once

#include <cstdint>

#include "tensor/dtype.h"

// How keys and values lie in memory: one layout for every backend of the device, made for kernels
// whose lanes are 16 keys (scores) or 16 dimensions (values).
//
// A piece is what one KV head has in one block: its K and then its V. Pieces of a block lie side by
// side by head, blocks by id. Both halves are made of 32-bit words of `pack` elements (one F32, two
// BF16, four F8), so that a vector of words comes apart into vectors of elements by shifts:
//
//   K  [block_size / 16][head_dim / pack][16 slots][pack]   a word: neighbouring dimensions of a
//   key V  [block_size / pack][head_dim][pack]                  a word: one dimension of
//   neighbouring keys
//
// The K of 16 slots and the V of 16 slots are contiguous, 16 * head_dim elements each. F8 (E4M3)
// elements are divided by the scale of their piece's half (kv_cache.h says which).

namespace rapt {

inline constexpr std::int64_t kKeyGroup = 16;

// Where the elements of one layer are. A view; valid as long as the cache.
struct KVLayerView {
  void* k = nullptr;  // K and V of KV head 0 in block 0
  void* v = nullptr;
  float* scales = nullptr;  // F8 only: [num_blocks, num_kv_heads, 2], of K and of V
  DType dtype = DType::kBF16;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t block_size = 0;

  // Elements from one KV head's piece to the next, and from one block to the next.
  std::int64_t head_stride() const { return 2 * block_size * head_dim; }

  std::int64_t block_stride() const { return num_kv_heads * head_stride(); }
};

// The place of an element inside K or V of a piece. Static: kernels compiled for one CPU level use
// them too (kernels/cpu/vec.h).
static inline std::int64_t k_offset(
    std::int64_t slot, std::int64_t dim, std::int64_t head_dim, std::int64_t pack
) {
  return slot / kKeyGroup * kKeyGroup * head_dim +
         (dim / pack * kKeyGroup + slot % kKeyGroup) * pack + dim % pack;
}

static inline std::int64_t v_offset(
    std::int64_t slot, std::int64_t dim, std::int64_t head_dim, std::int64_t pack
) {
  return (slot / pack * head_dim + dim) * pack + slot % pack;
}

}  // namespace rapt
