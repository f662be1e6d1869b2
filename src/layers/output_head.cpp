#include "layers/output_head.h"

#include <algorithm>

namespace rapt {

Result<OutputHead> OutputHead::load(
    WeightLoader& loader, const std::string& norm, double norm_eps, const LinearSpec& matrix
) {
  OutputHead head;
  ASSIGN_OR_RETURN(head.norm_, RmsNorm::load(loader, norm, matrix.in_features, norm_eps));
  ASSIGN_OR_RETURN(head.matrix_, Linear::load(loader, matrix));
  return head;
}

void OutputHead::forward(
    const ForwardContext& ctx, Tensor hidden, std::span<const std::int32_t> rows, Tensor out
) const {
  const WorkspaceScope scope(*ctx.workspace);
  const auto num_rows = static_cast<std::int64_t>(rows.size());
  const Tensor chosen = ctx.workspace->take_f32(Shape{num_rows, hidden.size(1)});
  for (std::int64_t idx = 0; idx < num_rows; ++idx) {
    const Tensor from = hidden.rows(rows[static_cast<std::size_t>(idx)], 1);
    std::copy_n(from.f32(), hidden.size(1), chosen.rows(idx, 1).f32());
  }
  norm_.forward(ctx, chosen, chosen);
  matrix_.forward(ctx, make_input(ctx, chosen, {&matrix_.method()}), out);
}

void OutputHead::measure(Workspace& workspace, LinearMode mode, std::int64_t num_rows) const {
  const WorkspaceScope scope(workspace);
  workspace.take_f32(Shape{num_rows, matrix_.method().in_features()});
  measure_input(workspace, mode, num_rows, {&matrix_.method()});
}

}  // namespace rapt
