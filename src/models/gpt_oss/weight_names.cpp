#include "models/gpt_oss/weight_names_internal.h"

namespace rapt {

LinearSpec plain_linear(
    const std::string& prefix, std::int64_t in_features, std::int64_t out_features, bool has_bias
) {
  LinearSpec spec;
  spec.in_features = in_features;
  spec.out_features = out_features;
  spec.dense = prefix + ".weight";
  spec.bias = has_bias ? prefix + ".bias" : "";
  return spec;
}

namespace {

// Hugging Face's layout and OpenAI's `original` one.
class SafetensorsNames : public GptOssNames {
 public:
  SafetensorsNames(CheckpointDir::Layout layout, const GptOssConfig& config)
      : is_original_(layout == CheckpointDir::Layout::kOriginal), config_(config) {}

  std::string embedding() const override;
  std::string final_norm() const override;
  LinearSpec lm_head() const override;
  std::string attention_norm(std::int64_t layer_idx) const override;
  LinearSpec query(std::int64_t layer_idx) const override;
  LinearSpec key(std::int64_t layer_idx) const override;
  LinearSpec value(std::int64_t layer_idx) const override;
  LinearSpec attention_out(std::int64_t layer_idx) const override;
  std::string sinks(std::int64_t layer_idx) const override;
  std::string moe_norm(std::int64_t layer_idx) const override;
  LinearSpec router(std::int64_t layer_idx) const override;
  LinearSpec gate_up(std::int64_t layer_idx) const override;
  LinearSpec down(std::int64_t layer_idx) const override;

 private:
  std::string layer(std::int64_t layer_idx) const;
  LinearSpec projection(
      std::int64_t layer_idx, const char* name, std::int64_t first_row, std::int64_t num_rows
  ) const;
  LinearSpec experts(
      std::int64_t layer_idx,
      const char* name,
      const char* original_name,
      std::int64_t in_features,
      std::int64_t out_features
  ) const;

  bool is_original_;
  const GptOssConfig& config_;
};

std::string SafetensorsNames::layer(std::int64_t layer_idx) const {
  return (is_original_ ? "block." : "model.layers.") + std::to_string(layer_idx) + ".";
}

std::string SafetensorsNames::embedding() const {
  return is_original_ ? "embedding.weight" : "model.embed_tokens.weight";
}

std::string SafetensorsNames::final_norm() const {
  return is_original_ ? "norm.scale" : "model.norm.weight";
}

LinearSpec SafetensorsNames::lm_head() const {
  return plain_linear(
      is_original_ ? "unembedding" : "lm_head", config_.hidden_size, config_.vocab_size, false
  );
}

std::string SafetensorsNames::attention_norm(std::int64_t layer_idx) const {
  return layer(layer_idx) + (is_original_ ? "attn.norm.scale" : "input_layernorm.weight");
}

std::string SafetensorsNames::sinks(std::int64_t layer_idx) const {
  return layer(layer_idx) + (is_original_ ? "attn.sinks" : "self_attn.sinks");
}

// `original` stores q, k and v as one matrix, in that order of rows.
LinearSpec SafetensorsNames::projection(
    std::int64_t layer_idx, const char* name, std::int64_t first_row, std::int64_t num_rows
) const {
  const std::string prefix = layer(layer_idx) + (is_original_ ? "attn.qkv" : name);
  LinearSpec spec = plain_linear(prefix, config_.hidden_size, num_rows, config_.attention_bias);
  if (is_original_) {
    spec.first_row = first_row;
    spec.stored_rows = (config_.num_heads + 2 * config_.num_kv_heads) * config_.head_dim;
  }
  return spec;
}

LinearSpec SafetensorsNames::query(std::int64_t layer_idx) const {
  return projection(layer_idx, "self_attn.q_proj", 0, config_.num_heads * config_.head_dim);
}

LinearSpec SafetensorsNames::key(std::int64_t layer_idx) const {
  return projection(
      layer_idx,
      "self_attn.k_proj",
      config_.num_heads * config_.head_dim,
      config_.num_kv_heads * config_.head_dim
  );
}

LinearSpec SafetensorsNames::value(std::int64_t layer_idx) const {
  return projection(
      layer_idx,
      "self_attn.v_proj",
      (config_.num_heads + config_.num_kv_heads) * config_.head_dim,
      config_.num_kv_heads * config_.head_dim
  );
}

LinearSpec SafetensorsNames::attention_out(std::int64_t layer_idx) const {
  return plain_linear(
      layer(layer_idx) + (is_original_ ? "attn.out" : "self_attn.o_proj"),
      config_.num_heads * config_.head_dim,
      config_.hidden_size,
      config_.attention_bias
  );
}

// Hugging Face's name says "post attention"; it is the norm before the experts.
std::string SafetensorsNames::moe_norm(std::int64_t layer_idx) const {
  return layer(layer_idx) + (is_original_ ? "mlp.norm.scale" : "post_attention_layernorm.weight");
}

LinearSpec SafetensorsNames::router(std::int64_t layer_idx) const {
  return plain_linear(
      layer(layer_idx) + (is_original_ ? "mlp.gate" : "mlp.router"),
      config_.hidden_size,
      config_.num_experts,
      true
  );
}

LinearSpec SafetensorsNames::experts(
    std::int64_t layer_idx,
    const char* name,
    const char* original_name,
    std::int64_t in_features,
    std::int64_t out_features
) const {
  LinearSpec spec;
  spec.in_features = in_features;
  spec.out_features = out_features;
  spec.num_experts = config_.num_experts;
  if (is_original_) {
    const std::string prefix = layer(layer_idx) + "mlp." + original_name;
    spec.dense = prefix + "_weight";
    spec.blocks = prefix + "_weight.blocks";
    spec.scales = prefix + "_weight.scales";
    spec.bias = prefix + "_bias";
  } else {
    const std::string prefix = layer(layer_idx) + "mlp.experts." + name;
    spec.dense = prefix;
    spec.dense_transposed = true;  // against the MXFP4 form: de-quantised uploads are [in, out]
    spec.blocks = prefix + "_blocks";
    spec.scales = prefix + "_scales";
    spec.bias = prefix + "_bias";
  }
  return spec;
}

LinearSpec SafetensorsNames::gate_up(std::int64_t layer_idx) const {
  return experts(
      layer_idx, "gate_up_proj", "mlp1", config_.hidden_size, 2 * config_.intermediate_size
  );
}

LinearSpec SafetensorsNames::down(std::int64_t layer_idx) const {
  return experts(layer_idx, "down_proj", "mlp2", config_.intermediate_size, config_.hidden_size);
}

}  // namespace

std::unique_ptr<GptOssNames> gpt_oss_names(
    const CheckpointDir& checkpoint, const GptOssConfig& config
) {
  if (checkpoint.layout() == CheckpointDir::Layout::kGguf) {
    return gpt_oss_gguf_names(checkpoint, config);
  }
  return std::make_unique<SafetensorsNames>(checkpoint.layout(), config);
}

}  // namespace rapt
