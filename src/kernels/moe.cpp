#include "kernels/moe.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/table_internal.h"
#include "kernels/math.h"

namespace rapt {

namespace {

// Rows of a token that one thread does before it looks for more: some 10 us of work.
constexpr std::int64_t kRowsPerPiece = 8;

void route_row(
    const float* logits, std::int64_t num_experts, int top_k, std::int32_t* experts, float* weights
) {
  std::array<bool, 1024> taken{};
  for (int rank = 0; rank < top_k; ++rank) {
    std::int64_t best = -1;
    for (std::int64_t expert_idx = 0; expert_idx < num_experts; ++expert_idx) {
      if (!taken[static_cast<std::size_t>(expert_idx)] &&
          (best < 0 || logits[expert_idx] > logits[best])) {
        best = expert_idx;
      }
    }
    taken[static_cast<std::size_t>(best)] = true;
    experts[rank] = static_cast<std::int32_t>(best);
  }
  float sum = 0.0F;
  for (int rank = 0; rank < top_k; ++rank) {
    weights[rank] = math::exp(logits[experts[rank]] - logits[experts[0]]);
    sum += weights[rank];
  }
  for (int rank = 0; rank < top_k; ++rank) {
    weights[rank] /= sum;
  }
}

}  // namespace

void route_top_k(
    const Stream& stream,
    Tensor router_logits,
    int top_k,
    std::span<std::int32_t> experts,
    Tensor weights
) {
  const std::int64_t num_tokens = router_logits.size(0);
  const std::int64_t num_experts = router_logits.size(1);
  CHECK(top_k >= 1 && top_k <= kMaxTopK && top_k <= num_experts, "top_k=", top_k);
  CHECK(num_experts <= 1024, "num_experts=", num_experts);
  CHECK(static_cast<std::int64_t>(experts.size()) == num_tokens * top_k);
  CHECK(weights.num_elements() == num_tokens * top_k);
  stream.pool->parallel_for(num_tokens, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token_idx = begin; token_idx < end; ++token_idx) {
      route_row(
          router_logits.f32() + token_idx * num_experts,
          num_experts,
          top_k,
          experts.data() + token_idx * top_k,
          weights.f32() + token_idx * top_k
      );
    }
  });
}

void combine_experts(
    const Stream& stream,
    Tensor expert_out,
    std::span<const std::int32_t> slots,
    Tensor weights,
    Tensor hidden
) {
  const std::int64_t num_tokens = hidden.size(0);
  const std::int64_t hidden_size = hidden.size(1);
  const std::int64_t top_k = weights.size(1);
  CHECK(static_cast<std::int64_t>(slots.size()) == num_tokens * top_k);
  CHECK(expert_out.size(0) == num_tokens * top_k && expert_out.size(1) == hidden_size);
  CHECK(top_k >= 1 && top_k <= kMaxTopK, "top_k=", top_k);
  const auto combine = stream.level == CpuLevel::kReference
                           ? ref::combine_row
                           : cpu::kernel_table(stream.level).combine_row;
  stream.pool->parallel_for(num_tokens, kRowsPerPiece, [&](std::int64_t begin, std::int64_t end) {
    std::array<const float*, kMaxTopK> outs{};
    for (std::int64_t token_idx = begin; token_idx < end; ++token_idx) {
      for (std::int64_t rank = 0; rank < top_k; ++rank) {
        const std::int64_t slot = slots[static_cast<std::size_t>(token_idx * top_k + rank)];
        outs[static_cast<std::size_t>(rank)] = expert_out.f32() + slot * hidden_size;
      }
      combine(
          outs.data(),
          weights.f32() + token_idx * top_k,
          static_cast<int>(top_k),
          hidden_size,
          hidden.f32() + token_idx * hidden_size
      );
    }
  });
}

}  // namespace rapt
