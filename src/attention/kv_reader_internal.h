#pragma once

#include <cstdint>

#include "attention/kv_layout.h"
#include "tensor/float_bits.h"

namespace rapt {

// Reads the keys and values of one KV head of one sequence as fp32: for plain loops that define
// things.
class KVReader {
 public:
  KVReader(const KVLayerView& layer, std::int64_t kv_head, const std::int32_t* block_table)
      : layer_(layer), kv_head_(kv_head), block_table_(block_table) {}

  // to: [head_dim].
  void read_k(std::int64_t position, float* to) const {
    read(layer_.k, position, 0, to, [this](std::int64_t slot, std::int64_t dim) {
      return k_offset(slot, dim, layer_.head_dim, pack());
    });
  }

  void read_v(std::int64_t position, float* to) const {
    read(layer_.v, position, 1, to, [this](std::int64_t slot, std::int64_t dim) {
      return v_offset(slot, dim, layer_.head_dim, pack());
    });
  }

 private:
  std::int64_t pack() const { return 4 / size_of(layer_.dtype); }

  template <typename Offset>
  void read(const void* data, std::int64_t position, int half, float* to, const Offset& offset)
      const {
    const std::int64_t block = block_table_[position / layer_.block_size];
    const std::int64_t slot = position % layer_.block_size;
    const std::int64_t piece = block * layer_.block_stride() + kv_head_ * layer_.head_stride();
    for (std::int64_t dim = 0; dim < layer_.head_dim; ++dim) {
      const std::int64_t idx = piece + offset(slot, dim);
      switch (layer_.dtype) {
        case DType::kF32:
          to[dim] = static_cast<const float*>(data)[idx];
          break;
        case DType::kBF16:
          to[dim] = bf16_to_f32(static_cast<const std::uint16_t*>(data)[idx]);
          break;
        default:
          to[dim] = f8e4m3_to_f32(static_cast<const std::uint8_t*>(data)[idx]) *
                    layer_.scales[(block * layer_.num_kv_heads + kv_head_) * 2 + half];
      }
    }
  }

  const KVLayerView& layer_;
  std::int64_t kv_head_;
  const std::int32_t* block_table_;
};

}  // namespace rapt
