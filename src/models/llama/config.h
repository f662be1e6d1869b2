#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

class CheckpointDir;

// The shape of one Llama-like model, as its config.json or its GGUF file states it, checked for
// sense. A plain value, made while loading and never changed afterwards.
struct LlamaConfig {
  // Rotary embedding, the same for every layer.
  struct Rope {
    enum class Scaling { kNone, kLinear, kLlama3 };

    double theta = 10000.0;
    Scaling scaling = Scaling::kNone;
    double factor = 1.0;  // of either scaling
    // What follows has a meaning for kLlama3 only.
    double low_freq_factor = 1.0;
    double high_freq_factor = 4.0;
    std::int64_t original_max_position = 8192;
  };

  std::int64_t num_layers = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t num_heads = 0;     // query heads
  std::int64_t num_kv_heads = 0;  // divides num_heads
  std::int64_t head_dim = 0;      // even; num_heads * head_dim need not be hidden_size
  std::int64_t vocab_size = 0;
  std::int64_t max_position_embeddings = 0;
  double rms_norm_eps = 1e-5;
  bool is_tied = false;  // the output head is the embedding
  Rope rope;
  std::vector<std::int32_t> eos_token_ids;  // ascending, each in [0, vocab_size)
  // Fields of the config that mean nothing to us, for the caller to log.
  std::vector<std::string> ignored_fields;
};

// Reads Hugging Face's config.json of a LlamaForCausalLM or a MistralForCausalLM; `what` names the
// file in errors.
Result<LlamaConfig> parse_llama_config(const json::value& value, std::string_view what);

// Adds the stop ids that a `generation_config.json` names to `config`.
Result<void> add_llama_generation_config(
    LlamaConfig& config, const json::value& value, std::string_view what
);

// Reads the metadata of a GGUF file of the architecture "llama". What only the tensors tell, such
// as the vocabulary's size, comes from `checkpoint`, whose metadata these are.
Result<LlamaConfig> parse_llama_gguf(const CheckpointDir& checkpoint);

// Parameters of the whole model; a shared embedding counts once. Biases are left out.
std::int64_t num_parameters(const LlamaConfig& config);

}  // namespace rapt
