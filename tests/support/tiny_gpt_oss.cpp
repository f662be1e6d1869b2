#include "support/tiny_gpt_oss.h"

#include <random>
#include <vector>

#include "base/json.h"
#include "support/checkpoint_files.h"
#include "tensor/float_bits.h"

namespace rapt::testing {

namespace {

constexpr int kHidden = 64;
constexpr int kIntermediate = 96;
constexpr int kHeads = 4;
constexpr int kKVHeads = 2;
constexpr int kHeadDim = 16;

class Writer {
 public:
  explicit Writer(unsigned seed) : generator_(seed) {}

  void add_bf16(
      const std::string& name, std::vector<std::int64_t> dims, float std, float mean = 0
  ) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) {
      count *= dim;
    }
    std::normal_distribution<float> normal(mean, std);
    std::string data;
    for (std::int64_t idx = 0; idx < count; ++idx) {
      const std::uint16_t bits = f32_to_bf16(normal(generator_));
      data += static_cast<char>(bits & 0xFF);
      data += static_cast<char>(bits >> 8);
    }
    tensors_.push_back({name, "BF16", std::move(dims), std::move(data)});
  }

  void add_bytes(const std::string& name, std::vector<std::int64_t> dims, int low, int high) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) {
      count *= dim;
    }
    std::uniform_int_distribution<int> uniform(low, high);
    std::string data;
    for (std::int64_t idx = 0; idx < count; ++idx) {
      data += static_cast<char>(uniform(generator_));
    }
    tensors_.push_back({name, "U8", std::move(dims), std::move(data)});
  }

  void add_linear(const std::string& name, std::int64_t out, std::int64_t in) {
    add_bf16(name + ".weight", {out, in}, 1.0F / 8);
    add_bf16(name + ".bias", {out}, 0.1F);
  }

  void add_experts(
      const std::string& name, std::int64_t experts, std::int64_t out, std::int64_t in
  ) {
    add_bytes(name + "_blocks", {experts, out, in / 32, 16}, 0, 255);
    add_bytes(name + "_scales", {experts, out, in / 32}, 121, 123);
    add_bf16(name + "_bias", {experts, out}, 0.1F);
  }

  const std::vector<WrittenTensor>& tensors() const { return tensors_; }

 private:
  std::mt19937 generator_;
  std::vector<WrittenTensor> tensors_;
};

}  // namespace

void write_tiny_gpt_oss(const std::string& folder, const TinyGptOss& model) {
  const json::value config = {
      {"architectures", {"GptOssForCausalLM"}},
      {"model_type", "gpt_oss"},
      {"num_hidden_layers", model.num_layers},
      {"num_local_experts", model.num_experts},
      {"num_experts_per_tok", 2},
      {"hidden_size", kHidden},
      {"intermediate_size", kIntermediate},
      {"head_dim", kHeadDim},
      {"num_attention_heads", kHeads},
      {"num_key_value_heads", kKVHeads},
      {"attention_bias", true},
      {"sliding_window", model.window},
      {"max_position_embeddings", model.max_positions},
      {"rope_theta", 150000},
      {"rms_norm_eps", 1e-5},
      {"vocab_size", model.vocab_size},
      {"eos_token_id", model.vocab_size - 1},
      {"quantization_config", {{"quant_method", "mxfp4"}}},
  };
  write_file(folder + "/config.json", to_json_text(config));
  Writer writer(model.seed);
  writer.add_bf16("model.embed_tokens.weight", {model.vocab_size, kHidden}, 1.0F);
  for (int layer = 0; layer < model.num_layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    writer.add_bf16(prefix + "input_layernorm.weight", {kHidden}, 0.1F, 1.0F);
    writer.add_linear(prefix + "self_attn.q_proj", kHeads * kHeadDim, kHidden);
    writer.add_linear(prefix + "self_attn.k_proj", kKVHeads * kHeadDim, kHidden);
    writer.add_linear(prefix + "self_attn.v_proj", kKVHeads * kHeadDim, kHidden);
    writer.add_linear(prefix + "self_attn.o_proj", kHidden, kHeads * kHeadDim);
    writer.add_bf16(prefix + "self_attn.sinks", {kHeads}, 1.0F);
    writer.add_bf16(prefix + "post_attention_layernorm.weight", {kHidden}, 0.1F, 1.0F);
    writer.add_linear(prefix + "mlp.router", model.num_experts, kHidden);
    writer.add_experts(
        prefix + "mlp.experts.gate_up_proj", model.num_experts, 2 * kIntermediate, kHidden
    );
    writer.add_experts(prefix + "mlp.experts.down_proj", model.num_experts, kHidden, kIntermediate);
  }
  writer.add_bf16("model.norm.weight", {kHidden}, 0.1F, 1.0F);
  writer.add_bf16("lm_head.weight", {model.vocab_size, kHidden}, 0.25F);
  write_file(folder + "/model.safetensors", safetensors_bytes(writer.tensors()));
}

}  // namespace rapt::testing
