#include "layers/gated_mlp.h"

#include <array>

#include "kernels/activation.h"

namespace rapt {

GatedMlp::GatedMlp(std::unique_ptr<LinearMethod> gate_up, Linear down)
    : gate_up_(std::move(gate_up)), down_(std::move(down)) {}

GatedMlp::Scratch GatedMlp::take_scratch(Workspace& workspace, std::int64_t num_tokens) const {
  const std::int64_t gate_up_size = gate_up_->out_features();
  return Scratch{
      .gate_up = workspace.take_f32(Shape{num_tokens, gate_up_size}),
      .activated = workspace.take_f32(Shape{num_tokens, gate_up_size / 2}),
  };
}

void GatedMlp::measure(Workspace& workspace, LinearMode mode, std::int64_t num_tokens) const {
  const WorkspaceScope scope(workspace);
  take_scratch(workspace, num_tokens);
  {
    const WorkspaceScope input_scope(workspace);
    measure_input(workspace, mode, num_tokens, {gate_up_.get()});
  }
  measure_input(workspace, mode, num_tokens, {&down_.method()});
}

std::vector<std::pair<std::string, LinearMethod*>> GatedMlp::methods() {
  return {{"gate_up", gate_up_.get()}, {"down", &down_.method()}};
}

void GatedMlp::forward(const ForwardContext& ctx, Tensor x, Tensor out) const {
  const WorkspaceScope scope(*ctx.workspace);
  const Scratch s = take_scratch(*ctx.workspace, x.size(0));
  const std::array group = {RowGroup{0, 0, static_cast<std::int32_t>(x.size(0))}};
  {
    const WorkspaceScope input_scope(*ctx.workspace);
    gate_up_->multiply(ctx.stream, make_input(ctx, x, {gate_up_.get()}), {}, group, s.gate_up);
  }
  swiglu(ctx.stream, s.gate_up, s.activated);
  down_.forward(ctx, make_input(ctx, s.activated, {&down_.method()}), out);
}

}  // namespace rapt
