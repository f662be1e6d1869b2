#include "kernels/rope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kernels/cpu/table_internal.h"
#include "kernels/math.h"

namespace rapt {

namespace {

// Heads of this size and less are reordered on the stack.
constexpr std::int64_t kMaxHeadDim = 1024;

// The pair that turns `rotations` times within the original context.
double pair_of_rotations(int head_dim, double theta, double context, double rotations) {
  return head_dim * math::log(context / (rotations * 2.0 * std::numbers::pi)) /
         (2.0 * math::log(theta));
}

}  // namespace

RopeSpec plain_rope(int head_dim, double theta) {
  RopeSpec spec;
  const double log_theta = math::log(theta);
  for (int pair_idx = 0; pair_idx < head_dim / 2; ++pair_idx) {
    spec.inv_freq.push_back(math::exp(-log_theta * (2.0 * pair_idx / head_dim)));
  }
  return spec;
}

RopeSpec yarn_rope(int head_dim, double theta, const YarnParams& yarn) {
  RopeSpec spec = plain_rope(head_dim, theta);
  const double context = yarn.original_max_position;
  double low = pair_of_rotations(head_dim, theta, context, yarn.beta_fast);
  double high = pair_of_rotations(head_dim, theta, context, yarn.beta_slow);
  if (yarn.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, head_dim - 1.0);
  if (low == high) {
    high += 0.001;
  }
  for (std::size_t pair_idx = 0; pair_idx < spec.inv_freq.size(); ++pair_idx) {
    const double ramp = std::clamp((static_cast<double>(pair_idx) - low) / (high - low), 0.0, 1.0);
    double& freq = spec.inv_freq[pair_idx];
    freq = freq * (1.0 - ramp) + freq / yarn.factor * ramp;
  }
  spec.amplitude = yarn.factor <= 1.0 ? 1.0 : 0.1 * math::log(yarn.factor) + 1.0;
  return spec;
}

RopeSpec linear_rope(int head_dim, double theta, double factor) {
  RopeSpec spec = plain_rope(head_dim, theta);
  for (double& freq : spec.inv_freq) {
    freq /= factor;
  }
  return spec;
}

RopeSpec llama3_rope(int head_dim, double theta, const Llama3RopeParams& params) {
  RopeSpec spec = plain_rope(head_dim, theta);
  for (double& freq : spec.inv_freq) {
    // How often the pair turns within the original context.
    const double num_turns = params.original_max_position * freq / (2.0 * std::numbers::pi);
    const double share_kept = std::clamp(
        (num_turns - params.low_freq_factor) / (params.high_freq_factor - params.low_freq_factor),
        0.0,
        1.0
    );
    freq = (1.0 - share_kept) * freq / params.factor + share_kept * freq;
  }
  return spec;
}

void rope_table(
    const Stream& stream,
    const RopeSpec& spec,
    std::span<const std::int32_t> positions,
    Tensor cos,
    Tensor sin
) {
  const auto num_tokens = static_cast<std::int64_t>(positions.size());
  const auto half_size = static_cast<std::int64_t>(spec.inv_freq.size());
  CHECK(cos.shape() == (Shape{num_tokens, half_size}), cos.shape().to_string());
  CHECK(sin.shape() == cos.shape(), sin.shape().to_string());
  stream.pool->parallel_for(num_tokens, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token_idx = begin; token_idx < end; ++token_idx) {
      const double position = positions[static_cast<std::size_t>(token_idx)];
      for (std::int64_t pair_idx = 0; pair_idx < half_size; ++pair_idx) {
        const math::SinCos value =
            math::sincos(position * spec.inv_freq[static_cast<std::size_t>(pair_idx)]);
        const std::int64_t idx = token_idx * half_size + pair_idx;
        cos.f32()[idx] = static_cast<float>(value.cos * spec.amplitude);
        sin.f32()[idx] = static_cast<float>(value.sin * spec.amplitude);
      }
    }
  });
}

void apply_rope(const Stream& stream, Tensor cos, Tensor sin, Tensor x) {
  const std::int64_t num_heads = x.size(1);
  const std::int64_t head_dim = x.size(2);
  const std::int64_t half_size = head_dim / 2;
  CHECK(cos.size(0) == x.size(0) && cos.size(1) == half_size, cos.shape().to_string());
  const auto rotate = stream.level == CpuLevel::kReference
                          ? ref::rope_head
                          : cpu::kernel_table(stream.level).rope_head;
  stream.pool->parallel_for(x.size(0), 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token_idx = begin; token_idx < end; ++token_idx) {
      for (std::int64_t head_idx = 0; head_idx < num_heads; ++head_idx) {
        rotate(
            cos.f32() + token_idx * half_size,
            sin.f32() + token_idx * half_size,
            half_size,
            x.f32() + (token_idx * num_heads + head_idx) * head_dim
        );
      }
    }
  });
}

void halve_pairs(const Stream& stream, Tensor x) {
  const std::int64_t num_heads = x.size(1);
  const std::int64_t head_dim = x.size(2);
  const std::int64_t half_size = head_dim / 2;
  CHECK(head_dim <= kMaxHeadDim && head_dim % 2 == 0, "head_dim=", head_dim);
  stream.pool->parallel_for(x.size(0), 4, [&](std::int64_t begin, std::int64_t end) {
    std::array<float, kMaxHeadDim / 2> seconds;
    for (std::int64_t head_idx = begin * num_heads; head_idx < end * num_heads; ++head_idx) {
      float* head = x.f32() + head_idx * head_dim;
      for (std::int64_t pair_idx = 0; pair_idx < half_size; ++pair_idx) {
        head[pair_idx] = head[2 * pair_idx];
        seconds[static_cast<std::size_t>(pair_idx)] = head[2 * pair_idx + 1];
      }
      std::copy_n(seconds.data(), half_size, head + half_size);
    }
  });
}

}  // namespace rapt
