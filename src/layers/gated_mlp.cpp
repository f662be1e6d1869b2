#include "layers/gated_mlp.h"

#include <array>

#include "kernels/activation.h"

namespace rapt {

GatedMlp::GatedMlp(std::unique_ptr<LinearMethod> gate_up, Linear down)
    : gate_up_(std::move(gate_up)), down_(std::move(down)) {}

Tensor GatedMlp::take_activated(Workspace& workspace, std::int64_t num_tokens) const {
  return workspace.take_f32(Shape{num_tokens, down_.method().in_features()});
}

void GatedMlp::measure(Workspace& workspace, LinearMode mode, std::int64_t num_tokens) const {
  const WorkspaceScope scope(workspace);
  take_activated(workspace, num_tokens);
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
  const Tensor activated = take_activated(*ctx.workspace, x.size(0));
  const std::array group = {RowGroup{0, 0, static_cast<std::int32_t>(x.size(0))}};
  {
    const WorkspaceScope input_scope(*ctx.workspace);
    gate_up_->multiply_swiglu(
        ctx.stream,
        make_input(ctx, x, {gate_up_.get()}),
        {},
        group,
        ClampedSwiglu::plain(),
        activated
    );
  }
  down_.forward(ctx, make_input(ctx, activated, {&down_.method()}), out);
}

}  // namespace rapt
