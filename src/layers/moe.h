#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/activation.h"
#include "layers/basic.h"
#include "layers/forward_context.h"
#include "quant/linear_method.h"

namespace rapt {

// A mixture of experts: each token goes through the `top_k` experts its router likes best, and
// their outputs are added up, weighted. Experts are gated MLPs with interleaved gate and up rows
// and the clamped SwiGLU (kernels/activation.h).
class MoE {
 public:
  struct Params {
    int top_k = 4;
    ClampedSwiglu activation = {};
  };

  MoE(Linear router,
      std::unique_ptr<LinearMethod> gate_up,
      std::unique_ptr<LinearMethod> down,
      Params params);

  // hidden += sum of weight * expert(x).
  void forward(
      const ForwardContext& ctx,
      Tensor x,      // [num_tokens, hidden_size] normalised
      Tensor hidden  // [num_tokens, hidden_size]
  ) const;

  // Takes from `workspace` what forward() would.
  void measure(Workspace& workspace, LinearMode mode, std::int64_t num_tokens) const;

  std::int64_t num_bytes() const;

  // The matrices by name, in the order in which they are read.
  std::vector<std::pair<std::string, LinearMethod*>> methods();

  int top_k() const { return params_.top_k; }

  std::string_view expert_format() const { return gate_up_->format(); }

 private:
  struct Scratch {
    Tensor router_logits;       // [num_tokens, num_experts]
    Tensor weights;             // [num_tokens, top_k]
    std::int32_t* experts;      // [num_tokens, top_k], in rank order
    std::int32_t* slots;        // [num_tokens, top_k]: the slot of each (token, rank)
    std::int32_t* slot_tokens;  // [num_tokens * top_k]: the token of each slot
    RowGroup* groups;           // [num_experts]: the slots of each expert
    Tensor activated;           // [num_tokens * top_k, intermediate_size]
    Tensor down;                // [num_tokens * top_k, hidden_size]
  };

  Scratch take_scratch(Workspace& workspace, std::int64_t num_tokens) const;
  std::int64_t group_by_expert(const Scratch& s, std::int64_t num_tokens) const;

  Linear router_;
  std::unique_ptr<LinearMethod> gate_up_;
  std::unique_ptr<LinearMethod> down_;
  Params params_;
};

}  // namespace rapt
