#include "models/llama/weight_names_internal.h"

namespace rapt {

std::string LlamaNames::layer(std::int64_t layer_idx) const {
  return (is_gguf_ ? "blk." : "model.layers.") + std::to_string(layer_idx) + ".";
}

std::string LlamaNames::embedding() const {
  return is_gguf_ ? "token_embd.weight" : "model.embed_tokens.weight";
}

std::string LlamaNames::final_norm() const {
  return is_gguf_ ? "output_norm.weight" : "model.norm.weight";
}

LinearSpec LlamaNames::lm_head() const {
  LinearSpec spec;
  spec.in_features = config_.hidden_size;
  spec.out_features = config_.vocab_size;
  spec.dense = config_.is_tied ? embedding() : (is_gguf_ ? "output.weight" : "lm_head.weight");
  return spec;
}

std::string LlamaNames::attention_norm(std::int64_t layer_idx) const {
  return layer(layer_idx) + (is_gguf_ ? "attn_norm.weight" : "input_layernorm.weight");
}

// Hugging Face's name says "post attention"; it is the norm before the MLP.
std::string LlamaNames::mlp_norm(std::int64_t layer_idx) const {
  return layer(layer_idx) + (is_gguf_ ? "ffn_norm.weight" : "post_attention_layernorm.weight");
}

std::string LlamaNames::rope_table(std::int64_t layer_idx) const {
  return layer(layer_idx) + "self_attn.rotary_emb.inv_freq";
}

LinearSpec LlamaNames::linear(
    std::int64_t layer_idx,
    const char* name,
    const char* gguf_name,
    std::int64_t in_features,
    std::int64_t out_features
) const {
  const std::string prefix = layer(layer_idx) + (is_gguf_ ? gguf_name : name);
  LinearSpec spec;
  spec.in_features = in_features;
  spec.out_features = out_features;
  spec.dense = prefix + ".weight";
  spec.bias = loader_.has(prefix + ".bias") ? prefix + ".bias" : "";
  return spec;
}

LinearSpec LlamaNames::query(std::int64_t layer_idx) const {
  return linear(
      layer_idx,
      "self_attn.q_proj",
      "attn_q",
      config_.hidden_size,
      config_.num_heads * config_.head_dim
  );
}

LinearSpec LlamaNames::key(std::int64_t layer_idx) const {
  return linear(
      layer_idx,
      "self_attn.k_proj",
      "attn_k",
      config_.hidden_size,
      config_.num_kv_heads * config_.head_dim
  );
}

LinearSpec LlamaNames::value(std::int64_t layer_idx) const {
  return linear(
      layer_idx,
      "self_attn.v_proj",
      "attn_v",
      config_.hidden_size,
      config_.num_kv_heads * config_.head_dim
  );
}

LinearSpec LlamaNames::attention_out(std::int64_t layer_idx) const {
  return linear(
      layer_idx,
      "self_attn.o_proj",
      "attn_output",
      config_.num_heads * config_.head_dim,
      config_.hidden_size
  );
}

LinearSpec LlamaNames::gate_up(std::int64_t layer_idx) const {
  const std::int64_t size = config_.intermediate_size;
  LinearSpec spec = linear(layer_idx, "mlp.gate_proj", "ffn_gate", config_.hidden_size, 2 * size);
  const LinearSpec up = linear(layer_idx, "mlp.up_proj", "ffn_up", config_.hidden_size, size);
  spec.second = up.dense;
  spec.second_bias = up.bias;
  return spec;
}

LinearSpec LlamaNames::down(std::int64_t layer_idx) const {
  return linear(
      layer_idx, "mlp.down_proj", "ffn_down", config_.intermediate_size, config_.hidden_size
  );
}

}  // namespace rapt
