#include "attention/kv_cache.h"

#include <algorithm>

#include "attention/metadata.h"
#include "tensor/float_bits.h"

namespace rapt {

std::uint64_t KVCache::block_bytes(
    const KVGroupLayout& group, std::int64_t block_size, DType dtype
) {
  return static_cast<std::uint64_t>(
      2 * group.num_layers * group.num_kv_heads * block_size * group.head_dim * size_of(dtype)
  );
}

Result<KVCache> KVCache::create(
    std::vector<KVGroupLayout> groups, std::int64_t block_size, DType dtype
) {
  CHECK(dtype == DType::kBF16 || dtype == DType::kF32, name_of(dtype));
  KVCache cache;
  cache.block_size_ = block_size;
  cache.dtype_ = dtype;
  for (const KVGroupLayout& group : groups) {
    ASSIGN_OR_RETURN(
        Buffer store,
        Buffer::allocate(
            block_bytes(group, block_size, dtype) * static_cast<std::uint64_t>(group.num_blocks),
            "the KV cache"
        )
    );
    cache.stores_.push_back(std::move(store));
  }
  cache.groups_ = std::move(groups);
  return cache;
}

KVLayerView KVCache::layer(int group_idx, int layer_in_group) const {
  const KVGroupLayout& group = groups_[static_cast<std::size_t>(group_idx)];
  CHECK(layer_in_group >= 0 && layer_in_group < group.num_layers, "layer=", layer_in_group);
  const std::int64_t half = group.num_blocks * group.num_kv_heads * block_size_ * group.head_dim *
                            size_of(dtype_);  // K or V of one layer
  char* base = static_cast<char*>(stores_[static_cast<std::size_t>(group_idx)].data()) +
               2 * layer_in_group * half;
  return KVLayerView{base, base + half, dtype_, group.num_kv_heads, group.head_dim, block_size_};
}

std::uint64_t KVCache::num_bytes() const {
  std::uint64_t sum = 0;
  for (const Buffer& store : stores_) {
    sum += store.num_bytes();
  }
  return sum;
}

namespace {

void store_row(const float* from, std::int64_t count, DType dtype, void* base, std::int64_t idx) {
  if (dtype == DType::kF32) {
    std::copy_n(from, count, static_cast<float*>(base) + idx);
    return;
  }
  std::uint16_t* to = static_cast<std::uint16_t*>(base) + idx;
  for (std::int64_t d = 0; d < count; ++d) {
    to[d] = f32_to_bf16(from[d]);
  }
}

}  // namespace

void write_kv(
    const Stream& stream,
    const KVLayerView& layer,
    const AttentionMetadata& metadata,
    int group_idx,
    Tensor k,
    Tensor v
) {
  CHECK(k.shape() == v.shape() && k.size(0) == metadata.num_tokens, k.shape().to_string());
  CHECK(k.size(1) == layer.num_kv_heads && k.size(2) == layer.head_dim, k.shape().to_string());
  const std::int64_t row_size = layer.num_kv_heads * layer.head_dim;
  stream.pool->parallel_for(metadata.num_tokens, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int32_t sequence_idx = metadata.sequence_of_row[static_cast<std::size_t>(row)];
      const SequenceRows& rows = metadata.sequences[static_cast<std::size_t>(sequence_idx)];
      const std::int64_t position = rows.first_position + (row - rows.first_row);
      const auto table = rows.block_tables[static_cast<std::size_t>(group_idx)];
      const std::int64_t block = table[static_cast<std::size_t>(position / layer.block_size)];
      for (std::int64_t head = 0; head < layer.num_kv_heads; ++head) {
        const std::int64_t from = row * row_size + head * layer.head_dim;
        const std::int64_t to =
            block * layer.block_stride() +
            (head * layer.block_size + position % layer.block_size) * layer.head_dim;
        store_row(k.f32() + from, layer.head_dim, layer.dtype, layer.k, to);
        store_row(v.f32() + from, layer.head_dim, layer.dtype, layer.v, to);
      }
    }
  });
}

}  // namespace rapt
