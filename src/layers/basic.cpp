#include "layers/basic.h"

#include <array>

#include "kernels/norm.h"

namespace rapt {

Result<Embedding> Embedding::load(
    WeightLoader& loader, const std::string& name, std::int64_t vocab_size, std::int64_t hidden_size
) {
  Embedding embedding;
  ASSIGN_OR_RETURN(embedding.table_, load_rows(loader, name, vocab_size, hidden_size));
  return embedding;
}

void Embedding::forward(
    const ForwardContext& ctx, std::span<const std::int32_t> token_ids, Tensor out
) const {
  table_.gather(ctx.stream, token_ids, out);
}

Result<RmsNorm> RmsNorm::load(
    WeightLoader& loader, const std::string& name, std::int64_t hidden_size, double eps
) {
  RmsNorm norm;
  ASSIGN_OR_RETURN(norm.weight_, load_f32(loader, name, Shape{hidden_size}));
  norm.eps_ = static_cast<float>(eps);
  return norm;
}

Tensor RmsNorm::weight() const {
  const auto size = static_cast<std::int64_t>(weight_.size());
  return Tensor::read_only(weight_.data(), DType::kF32, Shape{size});
}

void RmsNorm::forward(const ForwardContext& ctx, Tensor x, Tensor y) const {
  rms_norm(ctx.stream, x, weight(), eps_, y);
}

void RmsNorm::add_forward(const ForwardContext& ctx, Tensor x, Tensor delta, Tensor y) const {
  add_rms_norm(ctx.stream, x, delta, weight(), eps_, y);
}

PackedInput make_input(const ForwardContext& ctx, Tensor x, Readers readers) {
  for (const LinearMethod* reader : readers) {
    if (reader->reads_packed()) {
      return pack_input(ctx.stream, *ctx.workspace, x, ctx.linear_mode);
    }
  }
  return PackedInput{x};
}

void measure_input(Workspace& workspace, LinearMode mode, std::int64_t num_rows, Readers readers) {
  for (const LinearMethod* reader : readers) {
    if (reader->reads_packed()) {
      measure_packed_input(workspace, num_rows, reader->in_features(), mode);
      return;
    }
  }
}

Result<Linear> Linear::load(WeightLoader& loader, const LinearSpec& spec) {
  Linear linear;
  ASSIGN_OR_RETURN(linear.method_, load_linear(loader, spec));
  return linear;
}

void Linear::forward(const ForwardContext& ctx, const PackedInput& x, Tensor y) const {
  const std::array group = {RowGroup{0, 0, static_cast<std::int32_t>(y.size(0))}};
  method_->multiply(ctx.stream, x, {}, group, y);
}

}  // namespace rapt
