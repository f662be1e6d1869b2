#include <initializer_list>

#include "models/gpt_oss/weight_names_internal.h"

namespace rapt {

namespace {

// GGUF files come in two dialects, llama.cpp's and Ollama's, and in mixtures of them: where they
// differ, the name that the checkpoint has is the right one.
class GgufNames : public GptOssNames {
 public:
  GgufNames(const CheckpointDir& checkpoint, const GptOssConfig& config)
      : checkpoint_(checkpoint), config_(config) {}

  std::string embedding() const override { return "token_embd.weight"; }

  std::string final_norm() const override { return "output_norm.weight"; }

  LinearSpec lm_head() const override {
    return plain_linear("output", config_.hidden_size, config_.vocab_size, false);
  }

  std::string attention_norm(std::int64_t layer_idx) const override {
    return layer(layer_idx) + "attn_norm.weight";
  }

  LinearSpec query(std::int64_t layer_idx) const override {
    return projection(layer_idx, "attn_q", 0, config_.num_heads);
  }

  LinearSpec key(std::int64_t layer_idx) const override {
    return projection(layer_idx, "attn_k", config_.num_heads, config_.num_kv_heads);
  }

  LinearSpec value(std::int64_t layer_idx) const override {
    return projection(
        layer_idx, "attn_v", config_.num_heads + config_.num_kv_heads, config_.num_kv_heads
    );
  }

  LinearSpec attention_out(std::int64_t layer_idx) const override {
    const std::string name = existing(layer_idx, {"attn_output.weight", "attn_out.weight"});
    return plain_linear(
        name.substr(0, name.rfind('.')),
        config_.num_heads * config_.head_dim,
        config_.hidden_size,
        config_.attention_bias
    );
  }

  std::string sinks(std::int64_t layer_idx) const override {
    return existing(layer_idx, {"attn_sinks.weight", "attn_sinks"});
  }

  // llama.cpp's name says "post attention"; it is the norm before the experts.
  std::string moe_norm(std::int64_t layer_idx) const override {
    return existing(layer_idx, {"post_attention_norm.weight", "ffn_norm.weight"});
  }

  LinearSpec router(std::int64_t layer_idx) const override {
    return plain_linear(
        layer(layer_idx) + "ffn_gate_inp", config_.hidden_size, config_.num_experts, true
    );
  }

  // Gate and up lie apart, or alternate in one tensor as they do outside GGUF.
  LinearSpec gate_up(std::int64_t layer_idx) const override {
    const std::string fused = layer(layer_idx) + "ffn_gate_up_exps";
    const bool is_fused = checkpoint_.find(fused + ".weight") != nullptr;
    const std::string first = is_fused ? fused : layer(layer_idx) + "ffn_gate_exps";
    LinearSpec spec = plain_linear(first, config_.hidden_size, 2 * config_.intermediate_size, true);
    spec.num_experts = config_.num_experts;
    if (!is_fused) {
      spec.second = layer(layer_idx) + "ffn_up_exps.weight";
      spec.second_bias = layer(layer_idx) + "ffn_up_exps.bias";
    }
    return spec;
  }

  LinearSpec down(std::int64_t layer_idx) const override {
    LinearSpec spec = plain_linear(
        layer(layer_idx) + "ffn_down_exps", config_.intermediate_size, config_.hidden_size, true
    );
    spec.num_experts = config_.num_experts;
    return spec;
  }

 private:
  std::string layer(std::int64_t layer_idx) const {
    return "blk." + std::to_string(layer_idx) + ".";
  }

  // The first of these names that the checkpoint has; the very first when it has none, for the
  // error that follows.
  std::string existing(std::int64_t layer_idx, std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (checkpoint_.find(layer(layer_idx) + name) != nullptr) {
        return layer(layer_idx) + name;
      }
    }
    return layer(layer_idx) + *names.begin();
  }

  // A projection to `num_heads` heads; in a matrix of all three it comes behind `first_head`
  // others.
  LinearSpec projection(
      std::int64_t layer_idx, const char* name, std::int64_t first_head, std::int64_t num_heads
  ) const {
    const std::string fused = layer(layer_idx) + "attn_qkv";
    const bool is_fused = checkpoint_.find(fused + ".weight") != nullptr;
    LinearSpec spec = plain_linear(
        is_fused ? fused : layer(layer_idx) + name,
        config_.hidden_size,
        num_heads * config_.head_dim,
        config_.attention_bias
    );
    if (is_fused) {
      spec.first_row = first_head * config_.head_dim;
      spec.stored_rows = (config_.num_heads + 2 * config_.num_kv_heads) * config_.head_dim;
    }
    return spec;
  }

  const CheckpointDir& checkpoint_;
  const GptOssConfig& config_;
};

}  // namespace

std::unique_ptr<GptOssNames> gpt_oss_gguf_names(
    const CheckpointDir& checkpoint, const GptOssConfig& config
) {
  return std::make_unique<GgufNames>(checkpoint, config);
}

}  // namespace rapt
