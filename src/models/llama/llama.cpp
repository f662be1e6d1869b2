#include "models/llama/llama.h"

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "checkpoint/weight_loader.h"
#include "kernels/activation.h"
#include "kernels/rope.h"
#include "layers/attention.h"
#include "layers/basic.h"
#include "layers/gated_mlp.h"
#include "layers/output_head.h"
#include "models/config_source_internal.h"
#include "models/llama/config.h"
#include "models/llama/weight_names_internal.h"

namespace rapt {

namespace {

struct Block {
  RmsNorm attention_norm;
  Attention attention;
  RmsNorm mlp_norm;
  GatedMlp mlp;
};

RopeSpec rope_of(const LlamaConfig& config) {
  const LlamaConfig::Rope& rope = config.rope;
  const auto head_dim = static_cast<int>(config.head_dim);
  switch (rope.scaling) {
    case LlamaConfig::Rope::Scaling::kLinear:
      return linear_rope(head_dim, rope.theta, rope.factor);
    case LlamaConfig::Rope::Scaling::kLlama3:
      return llama3_rope(
          head_dim,
          rope.theta,
          Llama3RopeParams{
              .factor = rope.factor,
              .low_freq_factor = rope.low_freq_factor,
              .high_freq_factor = rope.high_freq_factor,
              .original_max_position = static_cast<double>(rope.original_max_position),
          }
      );
    case LlamaConfig::Rope::Scaling::kNone:
      break;
  }
  return plain_rope(head_dim, rope.theta);
}

class Llama : public Model {
 public:
  Llama(LlamaConfig config, WeightLoader loader)
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
    blocks_.front().attention_norm.forward(ctx, hidden, s.normed);
    for (std::size_t layer_idx = 0; layer_idx < blocks_.size(); ++layer_idx) {
      const Block& block = blocks_[layer_idx];
      block.attention.forward(ctx, s.normed, s.cos, s.sin, s.added);
      block.mlp_norm.add_forward(ctx, hidden, s.added, s.normed);
      block.mlp.forward(ctx, s.normed, s.added);
      if (layer_idx + 1 < blocks_.size()) {
        blocks_[layer_idx + 1].attention_norm.add_forward(ctx, hidden, s.added, s.normed);
      } else {
        add_in_place(ctx.stream, hidden, s.added);
      }
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
      for (const auto& [name, method] : block.mlp.methods()) {
        all.push_back({prefix + ".mlp." + name, method, 1});
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
        block.mlp.measure(workspace, most.linear_mode, most.num_tokens);
      }
    }
    head_.measure(workspace, most.linear_mode, most.num_logit_rows);
    return workspace.peak_bytes();
  }

 private:
  struct Scratch {
    Tensor normed;  // [num_tokens, hidden_size]
    Tensor added;   // [num_tokens, hidden_size]: what attention or the MLP adds
    Tensor cos;     // [num_tokens, head_dim / 2]
    Tensor sin;     // [num_tokens, head_dim / 2]
  };

  Scratch take_scratch(Workspace& workspace, std::int64_t num_tokens) const {
    return Scratch{
        .normed = workspace.take_f32(Shape{num_tokens, config_.hidden_size}),
        .added = workspace.take_f32(Shape{num_tokens, config_.hidden_size}),
        .cos = workspace.take_f32(Shape{num_tokens, config_.head_dim / 2}),
        .sin = workspace.take_f32(Shape{num_tokens, config_.head_dim / 2}),
    };
  }

  Result<void> apply_rope_factors(const LlamaNames& names);
  Result<Attention> load_attention(const LlamaNames& names, std::int64_t layer_idx);
  Result<GatedMlp> load_mlp(const LlamaNames& names, std::int64_t layer_idx);
  void describe();

  LlamaConfig config_;
  WeightLoader loader_;  // owns what the layers view
  RopeSpec rope_;
  ModelInfo info_;
  Embedding embedding_;
  std::vector<Block> blocks_;
  OutputHead head_;
};

// GGUF files state Llama 3's scaling as a number for each frequency.
Result<void> Llama::apply_rope_factors(const LlamaNames& names) {
  if (!loader_.has(names.rope_factors())) {
    return {};
  }
  ASSIGN_OR_RETURN(
      const std::vector<float> factors,
      load_f32(loader_, names.rope_factors(), Shape{config_.head_dim / 2})
  );
  for (std::size_t pair_idx = 0; pair_idx < factors.size(); ++pair_idx) {
    if (!(factors[pair_idx] > 0.0F)) {
      return bad_file(
          loader_.checkpoint().weights_path() + ": \"" + names.rope_factors() +
          "\" holds a number that is not above 0"
      );
    }
    rope_.inv_freq[pair_idx] /= static_cast<double>(factors[pair_idx]);
  }
  return {};
}

Result<Attention> Llama::load_attention(const LlamaNames& names, std::int64_t layer_idx) {
  ASSIGN_OR_RETURN(Linear q, Linear::load(loader_, names.query(layer_idx)));
  ASSIGN_OR_RETURN(Linear k, Linear::load(loader_, names.key(layer_idx)));
  ASSIGN_OR_RETURN(Linear v, Linear::load(loader_, names.value(layer_idx)));
  ASSIGN_OR_RETURN(Linear out, Linear::load(loader_, names.attention_out(layer_idx)));
  const bool is_gguf = loader_.checkpoint().gguf() != nullptr;
  return Attention(
      std::move(q),
      std::move(k),
      std::move(v),
      std::move(out),
      {},
      AttentionSpec{
          .group_idx = 0,
          .layer_in_group = static_cast<int>(layer_idx),
          .num_heads = config_.num_heads,
          .num_kv_heads = config_.num_kv_heads,
          .head_dim = config_.head_dim,
          .window = 0,
          .scale = 1.0F / std::sqrt(static_cast<float>(config_.head_dim)),
          .sinks = Sinks::none(),
      },
      is_gguf ? Attention::RopePairs::kNeighbours : Attention::RopePairs::kHalves
  );
}

Result<GatedMlp> Llama::load_mlp(const LlamaNames& names, std::int64_t layer_idx) {
  ASSIGN_OR_RETURN(auto gate_up, load_linear(loader_, names.gate_up(layer_idx)));
  ASSIGN_OR_RETURN(Linear down, Linear::load(loader_, names.down(layer_idx)));
  return GatedMlp(std::move(gate_up), std::move(down));
}

Result<void> Llama::load() {
  const LlamaNames names(loader_, config_);
  RETURN_IF_ERROR(apply_rope_factors(names));
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
    ASSIGN_OR_RETURN(RmsNorm mlp_norm, load_norm(names.mlp_norm(layer_idx)));
    ASSIGN_OR_RETURN(GatedMlp mlp, load_mlp(names, layer_idx));
    loader_.skip(names.rope_table(layer_idx));
    blocks_.push_back(Block{
        std::move(attention_norm), std::move(attention), std::move(mlp_norm), std::move(mlp)});
  }
  ASSIGN_OR_RETURN(
      head_, OutputHead::load(loader_, names.final_norm(), config_.rms_norm_eps, names.lm_head())
  );
  if (config_.is_tied) {
    loader_.skip("lm_head.weight");  // some files hold the shared matrix twice
  }
  RETURN_IF_ERROR(loader_.finish());
  describe();
  return {};
}

void Llama::describe() {
  info_.architecture = "LlamaForCausalLM";
  info_.chat_format = "jinja";
  info_.weight_format = blocks_.front().mlp.format();
  info_.num_layers = static_cast<int>(config_.num_layers);
  info_.vocab_size = static_cast<int>(config_.vocab_size);
  info_.max_model_len = static_cast<int>(config_.max_position_embeddings);
  info_.kv_groups = {ModelKVGroup{info_.num_layers, config_.num_kv_heads, config_.head_dim, 0}};
  info_.attention = llama_attention_needs(config_);
  info_.attention.name = "this model";
  info_.eos_token_ids = config_.eos_token_ids;
  info_.num_parameters = num_parameters(config_);
  info_.num_active_parameters = info_.num_parameters;
  info_.weight_bytes = loader_.checkpoint().num_tensor_bytes();
  char theta[32];
  std::snprintf(theta, sizeof(theta), "%.10g", config_.rope.theta);
  info_.details = {
      {"layers", std::to_string(config_.num_layers)},
      {"hidden size", std::to_string(config_.hidden_size)},
      {"intermediate size", std::to_string(config_.intermediate_size)},
      {"attention heads",
       std::to_string(config_.num_heads) + " query, " + std::to_string(config_.num_kv_heads) +
           " key-value, of " + std::to_string(config_.head_dim)},
      {"vocabulary", std::to_string(config_.vocab_size) + (config_.is_tied ? ", head shared" : "")},
      {"positions", std::to_string(config_.max_position_embeddings)},
      {"RoPE", "theta " + std::string(theta)},
  };
}

}  // namespace

Result<std::unique_ptr<Model>> load_llama(CheckpointDir checkpoint) {
  constexpr ConfigParsers<LlamaConfig> kParsers = {
      parse_llama_gguf, parse_llama_config, add_llama_generation_config};
  ASSIGN_OR_RETURN(LlamaConfig config, read_model_config(checkpoint, kParsers));
  auto model = std::make_unique<Llama>(std::move(config), WeightLoader(std::move(checkpoint)));
  RETURN_IF_ERROR(model->load());
  return std::unique_ptr<Model>(std::move(model));
}

}  // namespace rapt
