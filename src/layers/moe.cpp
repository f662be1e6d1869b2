#include "layers/moe.h"

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/moe.h"

namespace rapt {

MoE::MoE(
    Linear router,
    std::unique_ptr<LinearMethod> gate_up,
    std::unique_ptr<LinearMethod> down,
    Params params
)
    : router_(std::move(router)),
      gate_up_(std::move(gate_up)),
      down_(std::move(down)),
      params_(params) {}

MoE::Scratch MoE::take_scratch(Workspace& workspace, std::int64_t num_tokens) const {
  const std::int64_t num_experts = gate_up_->num_matrices();
  const std::int64_t num_slots = num_tokens * params_.top_k;
  return Scratch{
      .router_logits = workspace.take_f32(Shape{num_tokens, num_experts}),
      .weights = workspace.take_f32(Shape{num_tokens, params_.top_k}),
      .experts = workspace.take<std::int32_t>(num_slots),
      .slots = workspace.take<std::int32_t>(num_slots),
      .slot_tokens = workspace.take<std::int32_t>(num_slots),
      .groups = workspace.take<RowGroup>(num_experts),
      .activated = workspace.take_f32(Shape{num_slots, down_->in_features()}),
      .down = workspace.take_f32(Shape{num_slots, down_->out_features()}),
  };
}

void MoE::measure(Workspace& workspace, LinearMode mode, std::int64_t num_tokens) const {
  const WorkspaceScope scope(workspace);
  take_scratch(workspace, num_tokens);
  {
    const WorkspaceScope input_scope(workspace);
    measure_input(workspace, mode, num_tokens, {&router_.method(), gate_up_.get()});
  }
  measure_input(workspace, mode, num_tokens * params_.top_k, {down_.get()});
}

std::int64_t MoE::num_bytes() const {
  return router_.method().num_bytes() + gate_up_->num_bytes() + down_->num_bytes();
}

std::vector<std::pair<std::string, LinearMethod*>> MoE::methods() {
  return {{"router", &router_.method()}, {"gate_up", gate_up_.get()}, {"down", down_.get()}};
}

// Sorts the (token, rank) pairs by expert; within an expert by token. Only experts that someone
// chose get a group; returns how many.
std::int64_t MoE::group_by_expert(const Scratch& s, std::int64_t num_tokens) const {
  const std::int64_t num_experts = gate_up_->num_matrices();
  const std::int64_t num_slots = num_tokens * params_.top_k;
  for (std::int64_t expert = 0; expert < num_experts; ++expert) {
    s.groups[expert] = RowGroup{static_cast<std::int32_t>(expert), 0, 0};
  }
  for (std::int64_t pair = 0; pair < num_slots; ++pair) {
    ++s.groups[s.experts[pair]].count;
  }
  std::int32_t first = 0;
  for (std::int64_t expert = 0; expert < num_experts; ++expert) {
    s.groups[expert].first = first;
    first += std::exchange(s.groups[expert].count, 0);
  }
  for (std::int64_t pair = 0; pair < num_slots; ++pair) {
    RowGroup& group = s.groups[s.experts[pair]];
    const std::int32_t slot = group.first + group.count++;
    s.slots[pair] = slot;
    s.slot_tokens[slot] = static_cast<std::int32_t>(pair / params_.top_k);
  }
  RowGroup* end = std::remove_if(s.groups, s.groups + num_experts, [](const RowGroup& group) {
    return group.count == 0;
  });
  return end - s.groups;
}

void MoE::forward(const ForwardContext& ctx, Tensor x, Tensor hidden) const {
  const WorkspaceScope scope(*ctx.workspace);
  const std::int64_t num_tokens = x.size(0);
  const auto num_slots = static_cast<std::size_t>(num_tokens * params_.top_k);
  const Scratch s = take_scratch(*ctx.workspace, num_tokens);
  std::span<const RowGroup> groups;
  {
    const WorkspaceScope input_scope(*ctx.workspace);
    const PackedInput input = make_input(ctx, x, {&router_.method(), gate_up_.get()});
    router_.forward(ctx, input, s.router_logits);
    route_top_k(ctx.stream, s.router_logits, params_.top_k, {s.experts, num_slots}, s.weights);
    groups = {s.groups, static_cast<std::size_t>(group_by_expert(s, num_tokens))};
    gate_up_->multiply_swiglu(
        ctx.stream, input, {s.slot_tokens, num_slots}, groups, params_.activation, s.activated
    );
  }
  down_->multiply(ctx.stream, make_input(ctx, s.activated, {down_.get()}), {}, groups, s.down);
  combine_experts(ctx.stream, s.down, {s.slots, num_slots}, s.weights, hidden);
}

}  // namespace rapt
