#include "models/gpt_oss/gpt_oss.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "checkpoint/weight_loader.h"
#include "kernels/moe.h"
#include "kernels/rope.h"
#include "layers/attention.h"
#include "layers/basic.h"
#include "layers/moe.h"
#include "layers/output_head.h"
#include "models/config_source_internal.h"
#include "models/gpt_oss/config.h"
#include "models/gpt_oss/describe_internal.h"
#include "models/gpt_oss/weight_names_internal.h"

namespace rapt {

namespace {

struct Block {
  RmsNorm attention_norm;
  Attention attention;
  RmsNorm moe_norm;
  MoE moe;
};

RopeSpec rope_of(const GptOssConfig& config) {
  const GptOssConfig::Rope& rope = config.rope;
  const auto head_dim = static_cast<int>(config.head_dim);
  if (rope.scaling == GptOssConfig::Rope::Scaling::kNone) {
    return plain_rope(head_dim, rope.theta);
  }
  RopeSpec spec = yarn_rope(
      head_dim,
      rope.theta,
      YarnParams{
          .factor = rope.factor,
          .beta_fast = rope.beta_fast,
          .beta_slow = rope.beta_slow,
          .original_max_position = static_cast<double>(rope.original_max_position),
          .truncate = rope.truncate,
      }
  );
  spec.amplitude = rope.attention_factor.value_or(spec.amplitude);
  return spec;
}

class GptOss : public Model {
 public:
  GptOss(GptOssConfig config, WeightLoader loader)
      : config_(std::move(config)), loader_(std::move(loader)), rope_(rope_of(config_)) {}

  Result<void> load();

  const ModelInfo& info() const override { return info_; }

  const CheckpointDir& checkpoint() const override { return loader_.checkpoint(); }

  std::int64_t hidden_size() const override { return config_.hidden_size; }

  void forward(const ForwardContext& ctx, const ModelInput& input, Tensor hidden) const override {
    const WorkspaceScope scope(*ctx.workspace);
    const Scratch s = take_scratch(*ctx.workspace, hidden.size(0));
    embedding_.forward(ctx, input.token_ids, hidden);
    rope_table(ctx.stream, rope_, input.positions, s.cos, s.sin);
    for (const Block& block : blocks_) {
      block.attention_norm.forward(ctx, hidden, s.normed);
      block.attention.forward(ctx, s.normed, s.cos, s.sin, s.attended);
      block.moe_norm.add_forward(ctx, hidden, s.attended, s.normed);
      block.moe.forward(ctx, s.normed, hidden);
    }
  }

  void logits(
      const ForwardContext& ctx, Tensor hidden, std::span<const std::int32_t> rows, Tensor out
  ) const override {
    head_.forward(ctx, hidden, rows, out);
  }

  std::vector<ModelLinear> linears() override {
    std::vector<ModelLinear> all;
    for (std::size_t layer_idx = 0; layer_idx < blocks_.size(); ++layer_idx) {
      Block& block = blocks_[layer_idx];
      const std::string prefix = "layers." + std::to_string(layer_idx);
      for (const auto& [name, method] : block.attention.methods()) {
        all.push_back({prefix + ".attention." + name, method, 1});
      }
      for (const auto& [name, method] : block.moe.methods()) {
        const bool is_stack = method->num_matrices() > 1;
        all.push_back({prefix + ".moe." + name, method, is_stack ? block.moe.top_k() : 1});
      }
    }
    all.push_back({"lm_head", &head_.method(), 1});
    return all;
  }

  std::uint64_t workspace_bytes(const StepSize& most) const override {
    Workspace workspace = Workspace::measuring();
    {
      const WorkspaceScope scope(workspace);
      take_scratch(workspace, most.num_tokens);
      for (const Block& block : blocks_) {
        block.attention.measure(workspace, most.linear_mode, most.num_tokens);
        block.moe.measure(workspace, most.linear_mode, most.num_tokens);
      }
    }
    head_.measure(workspace, most.linear_mode, most.num_logit_rows);
    return workspace.peak_bytes();
  }

 private:
  struct Scratch {
    Tensor normed;    // [num_tokens, hidden_size]
    Tensor attended;  // [num_tokens, hidden_size]: what attention adds
    Tensor cos;       // [num_tokens, head_dim / 2]
    Tensor sin;       // [num_tokens, head_dim / 2]
  };

  Scratch take_scratch(Workspace& workspace, std::int64_t num_tokens) const {
    return Scratch{
        .normed = workspace.take_f32(Shape{num_tokens, config_.hidden_size}),
        .attended = workspace.take_f32(Shape{num_tokens, config_.hidden_size}),
        .cos = workspace.take_f32(Shape{num_tokens, config_.head_dim / 2}),
        .sin = workspace.take_f32(Shape{num_tokens, config_.head_dim / 2}),
    };
  }

  Result<Attention> load_attention(const GptOssNames& names, std::int64_t layer_idx);
  Result<MoE> load_moe(const GptOssNames& names, std::int64_t layer_idx);
  AttentionSpec place_in_kv_groups(std::int64_t layer_idx);

  GptOssConfig config_;
  WeightLoader loader_;  // owns what the layers view
  RopeSpec rope_;
  ModelInfo info_;
  Embedding embedding_;
  std::vector<Block> blocks_;
  OutputHead head_;
};

// Finds or opens the KV group of the layer's kind, full or sliding, and takes the next place in it.
AttentionSpec GptOss::place_in_kv_groups(std::int64_t layer_idx) {
  const int window = config_.is_sliding(layer_idx) ? static_cast<int>(config_.sliding_window) : 0;
  std::size_t group_idx = 0;
  while (group_idx < info_.kv_groups.size() && info_.kv_groups[group_idx].window != window) {
    ++group_idx;
  }
  if (group_idx == info_.kv_groups.size()) {
    info_.kv_groups.push_back(ModelKVGroup{0, config_.num_kv_heads, config_.head_dim, window});
  }
  return AttentionSpec{
      .group_idx = static_cast<int>(group_idx),
      .layer_in_group = info_.kv_groups[group_idx].num_layers++,
      .num_heads = config_.num_heads,
      .num_kv_heads = config_.num_kv_heads,
      .head_dim = config_.head_dim,
      .window = window,
      .scale = 1.0F / std::sqrt(static_cast<float>(config_.head_dim)),
      .sinks = Sinks::none(),  // the layer brings its own
  };
}

Result<Attention> GptOss::load_attention(const GptOssNames& names, std::int64_t layer_idx) {
  ASSIGN_OR_RETURN(Linear q, Linear::load(loader_, names.query(layer_idx)));
  ASSIGN_OR_RETURN(Linear k, Linear::load(loader_, names.key(layer_idx)));
  ASSIGN_OR_RETURN(Linear v, Linear::load(loader_, names.value(layer_idx)));
  ASSIGN_OR_RETURN(Linear out, Linear::load(loader_, names.attention_out(layer_idx)));
  ASSIGN_OR_RETURN(
      std::vector<float> sinks, load_f32(loader_, names.sinks(layer_idx), Shape{config_.num_heads})
  );
  return Attention(
      std::move(q),
      std::move(k),
      std::move(v),
      std::move(out),
      std::move(sinks),
      place_in_kv_groups(layer_idx)
  );
}

Result<MoE> GptOss::load_moe(const GptOssNames& names, std::int64_t layer_idx) {
  ASSIGN_OR_RETURN(Linear router, Linear::load(loader_, names.router(layer_idx)));
  ASSIGN_OR_RETURN(auto gate_up, load_linear(loader_, names.gate_up(layer_idx)));
  ASSIGN_OR_RETURN(auto down, load_linear(loader_, names.down(layer_idx)));
  return MoE(
      std::move(router),
      std::move(gate_up),
      std::move(down),
      MoE::Params{
          .top_k = static_cast<int>(config_.experts_per_token),
          .activation =
              {.alpha = static_cast<float>(config_.swiglu_alpha),
               .limit = static_cast<float>(config_.swiglu_limit)},
      }
  );
}

Result<void> GptOss::load() {
  if (config_.experts_per_token > kMaxTopK) {
    return bad_file(
        loader_.checkpoint().path() + " sends each token to " +
        std::to_string(config_.experts_per_token) + " experts; Rapt runs up to " +
        std::to_string(kMaxTopK)
    );
  }
  const std::unique_ptr<GptOssNames> all_names = gpt_oss_names(loader_.checkpoint(), config_);
  const GptOssNames& names = *all_names;
  ASSIGN_OR_RETURN(
      embedding_,
      Embedding::load(loader_, names.embedding(), config_.vocab_size, config_.hidden_size)
  );
  for (std::int64_t layer_idx = 0; layer_idx < config_.num_layers; ++layer_idx) {
    const auto load_norm = [&](const std::string& name) {
      return RmsNorm::load(loader_, name, config_.hidden_size, config_.rms_norm_eps);
    };
    ASSIGN_OR_RETURN(RmsNorm attention_norm, load_norm(names.attention_norm(layer_idx)));
    ASSIGN_OR_RETURN(Attention attention, load_attention(names, layer_idx));
    ASSIGN_OR_RETURN(RmsNorm moe_norm, load_norm(names.moe_norm(layer_idx)));
    ASSIGN_OR_RETURN(MoE moe, load_moe(names, layer_idx));
    blocks_.push_back(Block{
        std::move(attention_norm), std::move(attention), std::move(moe_norm), std::move(moe)});
  }
  ASSIGN_OR_RETURN(
      head_, OutputHead::load(loader_, names.final_norm(), config_.rms_norm_eps, names.lm_head())
  );
  RETURN_IF_ERROR(loader_.finish());
  describe_gpt_oss(config_, info_);
  info_.weight_format = blocks_.front().moe.expert_format();
  info_.weight_bytes = loader_.checkpoint().num_tensor_bytes();
  return {};
}

}  // namespace

Result<std::unique_ptr<Model>> load_gpt_oss(CheckpointDir checkpoint) {
  constexpr ConfigParsers<GptOssConfig> kParsers = {
      parse_gpt_oss_gguf, parse_gpt_oss_config, add_generation_config};
  ASSIGN_OR_RETURN(GptOssConfig config, read_model_config(checkpoint, kParsers));
  auto model = std::make_unique<GptOss>(std::move(config), WeightLoader(std::move(checkpoint)));
  RETURN_IF_ERROR(model->load());
  return std::unique_ptr<Model>(std::move(model));
}

}  // namespace rapt
