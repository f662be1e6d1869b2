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

// Linear scaling: all pairs turn `factor` times slower.
RopeSpec linear_rope(int head_dim, double theta, double factor);

// What Llama 3.1 does for long contexts: pairs that turn fast within the original context keep
// their frequency, those that turn slowly are slowed by `factor`, with a ramp between.
struct Llama3RopeParams {
  double factor = 8.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double original_max_position = 8192.0;
};

RopeSpec llama3_rope(int head_dim, double theta, const Llama3RopeParams& params);

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

// Reorders the elements of each head from pairs that lie side by side, (0, 1), (2, 3), ..., to the
// pairs that apply_rope() turns, (0, head_dim / 2), (1, head_dim / 2 + 1), ...
void halve_pairs(
    const Stream& stream,
    Tensor x  // [num_tokens, num_heads, head_dim] fp32
);

namespace ref {
void rope_head(const float* cos, const float* sin, std::int64_t half_size, float* x);
}

}  // namespace rapt
