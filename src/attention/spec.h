#pragma once

#include <cstdint>
#include <span>

namespace rapt {

// What one layer's attention computes, beside its inputs.
struct AttentionSpec {
  int group_idx = 0;       // which KV group (block table and window) the layer belongs to
  int layer_in_group = 0;  // its place in that group's store
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;  // divides num_heads; query head h reads KV head h / (heads / kv)
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // keys a query sees, its own included; 0: all before it
  float scale = 1.0F;       // scores are scale * (q . k)
  // One logit a query head that joins the softmax's denominator and brings no value; empty: none.
  std::span<const float> sinks = {};
};

}  // namespace rapt
