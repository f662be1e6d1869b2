#include "attention/kv_cache.h"

#include <utility>

namespace rapt {

namespace {

std::uint64_t scale_bytes(const KVGroupLayout& group) {
  return group.dtype == DType::kF8E4M3
             ? static_cast<std::uint64_t>(2 * group.num_kv_heads) * sizeof(float)
             : 0;
}

// One block in one layer, without scales.
std::uint64_t piece_bytes(const KVGroupLayout& group, std::int64_t block_size) {
  return static_cast<std::uint64_t>(
      2 * group.num_kv_heads * block_size * group.head_dim * size_of(group.dtype)
  );
}

}  // namespace

std::uint64_t KVCache::block_bytes(const KVGroupLayout& group, std::int64_t block_size) {
  return static_cast<std::uint64_t>(group.num_layers) *
         (piece_bytes(group, block_size) + scale_bytes(group));
}

Result<KVCache> KVCache::create(std::vector<KVGroupLayout> groups, std::int64_t block_size) {
  CHECK(block_size > 0 && block_size % kKeyGroup == 0, "block_size=", block_size);
  KVCache cache;
  cache.block_size_ = block_size;
  for (const KVGroupLayout& group : groups) {
    CHECK(
        group.dtype == DType::kBF16 || group.dtype == DType::kF32 || group.dtype == DType::kF8E4M3,
        name_of(group.dtype)
    );
    CHECK(group.head_dim % (4 / size_of(group.dtype)) == 0, "head_dim=", group.head_dim);
    ASSIGN_OR_RETURN(
        Buffer store,
        Buffer::allocate(
            block_bytes(group, block_size) * static_cast<std::uint64_t>(group.num_blocks),
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
  char* store = static_cast<char*>(stores_[static_cast<std::size_t>(group_idx)].data());
  const auto num_blocks = static_cast<std::uint64_t>(group.num_blocks);
  const std::uint64_t pieces = num_blocks * piece_bytes(group, block_size_);
  const std::uint64_t scales = num_blocks * scale_bytes(group);
  KVLayerView view;
  view.k = store + static_cast<std::uint64_t>(layer_in_group) * pieces;
  view.v = static_cast<char*>(view.k) + block_size_ * group.head_dim * size_of(group.dtype);
  if (scales > 0) {
    view.scales = reinterpret_cast<float*>(
        store + static_cast<std::uint64_t>(group.num_layers) * pieces +
        static_cast<std::uint64_t>(layer_in_group) * scales
    );
  }
  view.dtype = group.dtype;
  view.num_kv_heads = group.num_kv_heads;
  view.head_dim = group.head_dim;
  view.block_size = block_size_;
  return view;
}

std::uint64_t KVCache::num_bytes() const {
  std::uint64_t sum = 0;
  for (const Buffer& store : stores_) {
    sum += store.num_bytes();
  }
  return sum;
}

}  // namespace rapt
