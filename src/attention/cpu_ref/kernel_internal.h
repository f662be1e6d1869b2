#pragma once

#include <cstdint>

#include "attention/kv_layout.h"

namespace rapt::ref {

// One query head of one row, and where its keys lie.
struct AttendRow {
  const float* q = nullptr;  // [head_dim]
  float* out = nullptr;      // [head_dim]
  float scale = 1.0F;
  float soft_cap = 0.0F;            // none when 0
  const float* sink = nullptr;      // one logit, or null
  std::int64_t first_position = 0;  // keys [first_position, end_position) are visible
  std::int64_t end_position = 0;
  const KVLayerView* layer = nullptr;
  std::int64_t kv_head = 0;
  const std::int32_t* block_table = nullptr;
  float* scores = nullptr;  // scratch, [end_position - first_position]
  float* key = nullptr;     // scratch, [head_dim]
};

// Computes one row. In this order:
//   s_j = scale * (q . k_j), the dot product in 16 partial sums; with a soft cap c then
//         c * tanh(s_j / c), where tanh(x) = (1 - e) / (1 + e) with the sign of x, e = exp(-2 |x|);
//   m   = max(sink, s_j ...);
//   e_j = exp(s_j - m), added up in 16 partial sums by j mod 16 (j the absolute position), joined
//         by the fixed tree; then exp(sink - m) is added;
//   o   = sum of e_j v_j by fused multiply-adds in ascending j, divided by that sum.
// Where nothing has a weight (every score and the sink are -inf) the output is zero.
void attend(const AttendRow& row);

}  // namespace rapt::ref
