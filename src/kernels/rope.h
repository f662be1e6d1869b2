#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// How angles depend on the position: angle of pair i at position p is p * inv_freq[i]; both the
// cosine and the sine are multiplied by `amplitude`.
struct RopeSpec {
  std::vector<double> inv_freq;  // [head_dim / 2]
  double amplitude = 1.0;
};

// Plain RoPE (Su et al. 2021): inv_freq[i] = theta^(-2i / head_dim).
RopeSpec plain_rope(int head_dim, double theta);

struct YarnParams {
  double factor = 1.0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
  double original_max_position = 4096.0;
  bool truncate = true;  // round the ramp's bounds to whole pairs
};

// YaRN (Peng et al. 2023): pairs that turn fast keep their frequency, slow ones are slowed by
// `factor`, with a linear ramp between; amplitude 0.1 ln(factor) + 1.
RopeSpec yarn_rope(int head_dim, double theta, const YarnParams& yarn);

// Cosines and sines for the positions of a step, computed in double and rounded once.
void rope_table(
    const Stream& stream,
    const RopeSpec& spec,
    std::span<const std::int32_t> positions,  // [num_tokens]
    Tensor cos,                               // [num_tokens, head_dim / 2] fp32
    Tensor sin                                // [num_tokens, head_dim / 2] fp32
);

// Rotates each head in place; element i is paired with element i + head_dim / 2:
//   x_i' = fma(x_i, cos, -(x_j sin)),  x_j' = fma(x_j, cos, x_i sin)
void apply_rope(
    const Stream& stream,
    Tensor cos,  // [num_tokens, head_dim / 2] fp32
    Tensor sin,  // [num_tokens, head_dim / 2] fp32
    Tensor x     // [num_tokens, num_heads, head_dim] fp32
);

namespace ref {
void rope_head(const float* cos, const float* sin, std::int64_t half_size, float* x);
}

}  // namespace rapt
