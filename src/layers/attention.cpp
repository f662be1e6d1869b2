#include "layers/attention.h"

#include <utility>

#include "kernels/rope.h"

namespace rapt {

namespace {

// The heads of a row side by side, as the projections see them.
Tensor joined(Tensor heads) {
  return Tensor(heads.raw(), heads.dtype(), Shape{heads.size(0), heads.size(1) * heads.size(2)});
}

}  // namespace

Attention::Attention(
    Linear q,
    Linear k,
    Linear v,
    Linear out,
    std::vector<float> sinks,
    AttentionSpec spec,
    RopePairs rope_pairs
)
    : q_(std::move(q)),
      k_(std::move(k)),
      v_(std::move(v)),
      out_(std::move(out)),
      sinks_(std::move(sinks)),
      spec_(spec),
      rope_pairs_(rope_pairs) {
  // The span follows the vector's heap memory, which moves of this object leave in place.
  spec_.sinks = Sinks::of(sinks_);
}

Attention::Scratch Attention::take_scratch(Workspace& workspace, std::int64_t num_tokens) const {
  return Scratch{
      .q = workspace.take_f32(Shape{num_tokens, spec_.num_heads, spec_.head_dim}),
      .k = workspace.take_f32(Shape{num_tokens, spec_.num_kv_heads, spec_.head_dim}),
      .v = workspace.take_f32(Shape{num_tokens, spec_.num_kv_heads, spec_.head_dim}),
      .attended = workspace.take_f32(Shape{num_tokens, spec_.num_heads, spec_.head_dim}),
  };
}

void Attention::measure(Workspace& workspace, LinearMode mode, std::int64_t num_tokens) const {
  const WorkspaceScope scope(workspace);
  take_scratch(workspace, num_tokens);
  {
    const WorkspaceScope input_scope(workspace);
    measure_input(workspace, mode, num_tokens, {&q_.method(), &k_.method(), &v_.method()});
  }
  measure_input(workspace, mode, num_tokens, {&out_.method()});
}

std::int64_t Attention::num_bytes() const {
  return q_.method().num_bytes() + k_.method().num_bytes() + v_.method().num_bytes() +
         out_.method().num_bytes();
}

std::vector<std::pair<std::string, LinearMethod*>> Attention::methods() {
  return {{"q", &q_.method()}, {"k", &k_.method()}, {"v", &v_.method()}, {"out", &out_.method()}};
}

void Attention::forward(const ForwardContext& ctx, Tensor x, Tensor cos, Tensor sin, Tensor out)
    const {
  const WorkspaceScope scope(*ctx.workspace);
  const Scratch s = take_scratch(*ctx.workspace, x.size(0));
  {
    const WorkspaceScope input_scope(*ctx.workspace);
    const PackedInput input = make_input(ctx, x, {&q_.method(), &k_.method(), &v_.method()});
    q_.forward(ctx, input, joined(s.q));
    k_.forward(ctx, input, joined(s.k));
    v_.forward(ctx, input, joined(s.v));
  }
  if (rope_pairs_ == RopePairs::kNeighbours) {
    // From here on everything is as with the other order, to the last bit.
    halve_pairs(ctx.stream, s.q);
    halve_pairs(ctx.stream, s.k);
  }
  apply_rope(ctx.stream, cos, sin, s.q);
  apply_rope(ctx.stream, cos, sin, s.k);
  const KVLayerView layer = ctx.kv_cache->layer(spec_.group_idx, spec_.layer_in_group);
  write_kv(ctx.stream, layer, *ctx.metadata, spec_.group_idx, s.k, s.v);
  ctx.attention->run(ctx.stream, spec_, layer, *ctx.metadata, s.q, s.attended);
  out_.forward(ctx, make_input(ctx, joined(s.attended), {&out_.method()}), out);
}

}  // namespace rapt
