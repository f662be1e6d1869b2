#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

class CheckpointDir;

// The shape of one gpt-oss model, as its config files state it, checked for sense: sizes are
// positive and of a believable magnitude, so products of a few of them fit 64 bits. A plain value,
// made while loading and never changed afterwards.
struct GptOssConfig {
  enum class LayerType { kFullAttention, kSlidingAttention };

  // Which form the experts' weights have according to the config. The tensors' names decide.
  enum class QuantMethod { kNone, kMxfp4 };

  // Rotary embedding, the same for every layer.
  struct Rope {
    enum class Scaling { kNone, kYarn };

    double theta = 150000.0;
    Scaling scaling = Scaling::kNone;
    // What follows has a meaning for YaRN only.
    double factor = 1.0;
    double beta_fast = 32.0;
    double beta_slow = 1.0;
    std::int64_t original_max_position = 4096;
    bool truncate = true;                    // round the ramp's bounds; gpt-oss says false
    std::optional<double> attention_factor;  // absent: 0.1 ln(factor) + 1

    bool operator==(const Rope&) const = default;
  };

  std::int64_t num_layers = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;  // of one expert
  std::int64_t num_experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t num_heads = 0;     // query heads
  std::int64_t num_kv_heads = 0;  // divides num_heads
  std::int64_t head_dim = 0;      // even; num_heads * head_dim need not be hidden_size
  std::int64_t vocab_size = 0;
  std::int64_t max_position_embeddings = 0;
  std::int64_t sliding_window = 0;     // keys a query sees, its own included; 0: no sliding layer
  std::vector<LayerType> layer_types;  // [num_layers]
  double rms_norm_eps = 1e-5;
  double swiglu_limit = 7.0;
  double swiglu_alpha = 1.702;
  bool attention_bias = true;  // q, k, v and o projections have biases
  Rope rope;
  std::vector<std::int32_t> eos_token_ids;  // ascending, each in [0, vocab_size)
  std::optional<std::int32_t> pad_token_id;
  QuantMethod quant_method = QuantMethod::kNone;
  // Fields of the config that mean nothing to us, for the caller to log.
  std::vector<std::string> ignored_fields;

  bool is_sliding(std::int64_t layer_idx) const {
    return layer_types[static_cast<std::size_t>(layer_idx)] == LayerType::kSlidingAttention;
  }
};

// Reads a `config.json`, of Hugging Face's layout or of OpenAI's `original/` folder: its keys tell
// which. `what` names the file in errors. With a full vocabulary the stop ids always include
// <|return|>, <|call|> and <|endoftext|>, since the first published configs lack some of them.
Result<GptOssConfig> parse_gpt_oss_config(const json::value& value, std::string_view what);

// Reads the metadata of a GGUF file of either dialect ("gpt-oss", "gptoss"). They leave out what
// holds for every published model: which layers slide, the limits of the activation, the RoPE
// details. What only the tensors tell comes from `checkpoint`, whose metadata these are.
Result<GptOssConfig> parse_gpt_oss_gguf(const CheckpointDir& checkpoint);

// Adds the stop ids that a `generation_config.json` names to `config`.
Result<void> add_generation_config(
    GptOssConfig& config, const json::value& value, std::string_view what
);

// Parameters of the whole model, and of those the ones that one token's step reads: its chosen
// experts and the output head, but not the embedding table.
std::int64_t num_parameters(const GptOssConfig& config);
std::int64_t num_active_parameters(const GptOssConfig& config);

}  // namespace rapt
