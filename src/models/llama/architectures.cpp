#include "models/architecture_internal.h"
#include "models/llama/config.h"
#include "models/llama/llama.h"

namespace rapt {

namespace {

Result<AttentionModel> attention_of_json(const json::value& config, std::string_view what) {
  ASSIGN_OR_RETURN(const LlamaConfig shape, parse_llama_config(config, what));
  return llama_attention_needs(shape);
}

Result<AttentionModel> attention_of_gguf(const CheckpointDir& checkpoint) {
  ASSIGN_OR_RETURN(const LlamaConfig shape, parse_llama_gguf(checkpoint));
  return llama_attention_needs(shape);
}

}  // namespace

AttentionModel llama_attention_needs(const LlamaConfig& config) {
  AttentionModel model;
  model.family = "Llama";
  model.num_full_layers = static_cast<int>(config.num_layers);
  model.num_heads = static_cast<int>(config.num_heads);
  model.num_kv_heads = static_cast<int>(config.num_kv_heads);
  model.head_dim = static_cast<int>(config.head_dim);
  model.max_context = config.max_position_embeddings;
  return model;
}

std::span<const ArchitectureEntry> llama_architectures() {
  static constexpr ArchitectureEntry kEntries[] = {
      {.name = "LlamaForCausalLM",
       .gguf_names = "llama",
       .load = load_llama,
       .attention_of_json = attention_of_json,
       .attention_of_gguf = attention_of_gguf},
      {.name = "MistralForCausalLM",
       .gguf_names = "",
       .load = load_llama,
       .attention_of_json = attention_of_json,
       .attention_of_gguf = attention_of_gguf},
  };
  return kEntries;
}

}  // namespace rapt
