#pragma once

#include <cstdint>
#include <span>

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// The experts of each token: the `top_k` largest router logits in descending order (equal logits:
// the lower expert first), weighted by the softmax over just those.
void route_top_k(
    const Stream& stream,
    Tensor router_logits,             // [num_tokens, num_experts] fp32
    int top_k,                        // at most kMaxTopK
    std::span<std::int32_t> experts,  // [num_tokens, top_k]
    Tensor weights                    // [num_tokens, top_k] fp32
);

inline constexpr int kMaxTopK = 16;

// hidden[t] += sum over rank r of weights[t, r] * expert_out[slots[t, r]], the sum first and in
// rank order.
void combine_experts(
    const Stream& stream,
    Tensor expert_out,                    // [num_tokens * top_k, hidden_size] fp32, in slot order
    std::span<const std::int32_t> slots,  // [num_tokens, top_k]
    Tensor weights,                       // [num_tokens, top_k] fp32
    Tensor hidden                         // [num_tokens, hidden_size] fp32
);

namespace ref {
// x += sum of weights[i] * outs[i], over `num_outs` rows of `size`.
void combine_row(
    const float* const* outs, const float* weights, int num_outs, std::int64_t size, float* x
);
}  // namespace ref

}  // namespace rapt
