#pragma once

#include <cstdint>

namespace rapt {

// One query head of one row, and where its keys lie. Plain pointers, for the kernels.
struct AttendRow {
  const float* q = nullptr;  // [head_dim]
  float* out = nullptr;      // [head_dim]
  float scale = 1.0F;
  float soft_cap = 0.0F;            // none when 0
  const float* sink = nullptr;      // one logit, or null
  std::int64_t first_position = 0;  // keys [first_position, end_position) are visible
  std::int64_t end_position = 0;
  const void* k = nullptr;  // of the layer, at the query's KV head of block 0
  const void* v = nullptr;
  bool is_bf16 = true;  // else fp32
  std::int64_t head_dim = 0;
  std::int64_t block_size = 0;
  std::int64_t block_stride = 0;  // elements from one block to the next
  const std::int32_t* block_table = nullptr;
  float* scores = nullptr;  // scratch, [end_position - first_position + 16]
};

// Where the head's row of a position lies, in elements. Static: see kernels/cpu/vec.h.
static inline std::int64_t offset_of(const AttendRow& row, std::int64_t position) {
  return row.block_table[position / row.block_size] * row.block_stride +
         position % row.block_size * row.head_dim;
}

// Computes one AttendRow. In this order:
//   s_j = scale * (q . k_j), the dot product in 16 partial sums; with a soft cap c then
//         c * tanh(s_j / c), where tanh(x) = (1 - e) / (1 + e) with the sign of x, e = exp(-2 |x|);
//   m   = max(sink, s_j ...);
//   e_j = exp(s_j - m), added up in 16 partial sums by j mod 16 (j the absolute position), joined
//         by the fixed tree; then exp(sink - m) is added;
//   o   = sum of e_j v_j by fused multiply-adds in ascending j, divided by that sum.
using AttendKernel = void (*)(const AttendRow& row);

}  // namespace rapt
