#pragma once

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// Root-mean-square normalisation (Zhang and Sennrich 2019), all in fp32:
//   y = (x * 1 / sqrt(mean(x^2) + eps)) * weight
// for each row. The mean is a sum in 16 partial sums (docs/NUMERICS.md). y may be x.
void rms_norm(
    const Stream& stream,
    Tensor x,       // [num_tokens, hidden_size] fp32
    Tensor weight,  // [hidden_size] fp32
    float eps,
    Tensor y  // [num_tokens, hidden_size] fp32
);

// x += delta, then y = rms_norm(x), row by row in one pass. Bits of the two one after the other.
void add_rms_norm(
    const Stream& stream,
    Tensor x,       // [num_tokens, hidden_size] fp32
    Tensor delta,   // [num_tokens, hidden_size] fp32
    Tensor weight,  // [hidden_size] fp32
    float eps,
    Tensor y  // [num_tokens, hidden_size] fp32
);

namespace ref {
void rms_norm_row(const float* x, const float* weight, float eps, std::int64_t size, float* y);
}

}  // namespace rapt
