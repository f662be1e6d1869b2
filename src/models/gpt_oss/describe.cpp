#include <cstdio>

#include "models/gpt_oss/describe_internal.h"
#include "models/gpt_oss/gpt_oss.h"

namespace rapt {

namespace {

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.10g", value);
  return text;
}

std::string rope_text(const GptOssConfig::Rope& rope) {
  std::string text = "theta " + text_of(rope.theta);
  if (rope.scaling == GptOssConfig::Rope::Scaling::kYarn) {
    text += ", YaRN x" + text_of(rope.factor) + " from " +
            std::to_string(rope.original_max_position) + ", beta " + text_of(rope.beta_fast) +
            " to " + text_of(rope.beta_slow) + (rope.truncate ? ", bounds rounded" : "");
  }
  return text;
}

std::string layers_text(const GptOssConfig& config) {
  std::int64_t num_sliding = 0;
  for (std::int64_t layer_idx = 0; layer_idx < config.num_layers; ++layer_idx) {
    num_sliding += config.is_sliding(layer_idx) ? 1 : 0;
  }
  return std::to_string(config.num_layers) + " (" +
         std::to_string(config.num_layers - num_sliding) + " full, " + std::to_string(num_sliding) +
         " sliding over " + std::to_string(config.sliding_window) + ")";
}

AttentionModel attention_needs_of(const GptOssConfig& config) {
  AttentionModel model;
  model.family = "gpt-oss";
  for (std::int64_t layer_idx = 0; layer_idx < config.num_layers; ++layer_idx) {
    ++(config.is_sliding(layer_idx) ? model.num_sliding_layers : model.num_full_layers);
  }
  model.num_heads = static_cast<int>(config.num_heads);
  model.num_kv_heads = static_cast<int>(config.num_kv_heads);
  model.head_dim = static_cast<int>(config.head_dim);
  model.window = static_cast<int>(config.sliding_window);
  model.has_sinks = true;
  model.max_context = config.max_position_embeddings;
  return model;
}

}  // namespace

Result<AttentionModel> gpt_oss_attention_of_json(const json::value& config, std::string_view what) {
  ASSIGN_OR_RETURN(const GptOssConfig shape, parse_gpt_oss_config(config, what));
  return attention_needs_of(shape);
}

Result<AttentionModel> gpt_oss_attention_of_gguf(const CheckpointDir& checkpoint) {
  ASSIGN_OR_RETURN(const GptOssConfig shape, parse_gpt_oss_gguf(checkpoint));
  return attention_needs_of(shape);
}

void describe_gpt_oss(const GptOssConfig& config, ModelInfo& info) {
  info.architecture = "GptOssForCausalLM";
  info.chat_format = "harmony";
  info.num_layers = static_cast<int>(config.num_layers);
  info.vocab_size = static_cast<int>(config.vocab_size);
  info.attention = attention_needs_of(config);
  info.attention.name = "this model";
  info.max_model_len = static_cast<int>(config.max_position_embeddings);
  info.eos_token_ids = config.eos_token_ids;
  info.num_parameters = num_parameters(config);
  info.num_active_parameters = num_active_parameters(config);
  std::string eos;
  for (const std::int32_t id : config.eos_token_ids) {
    eos += (eos.empty() ? "" : ", ") + std::to_string(id);
  }
  info.details = {
      {"layers", layers_text(config)},
      {"hidden size", std::to_string(config.hidden_size)},
      {"attention heads",
       std::to_string(config.num_heads) + " query, " + std::to_string(config.num_kv_heads) +
           " key-value, of " + std::to_string(config.head_dim)},
      {"experts",
       std::to_string(config.num_experts) + ", " + std::to_string(config.experts_per_token) +
           " a token, intermediate size " + std::to_string(config.intermediate_size)},
      {"vocabulary", std::to_string(config.vocab_size)},
      {"positions", std::to_string(config.max_position_embeddings)},
      {"RoPE", rope_text(config.rope)},
      {"norm epsilon", text_of(config.rms_norm_eps)},
      {"SwiGLU",
       "alpha " + text_of(config.swiglu_alpha) + ", limit " + text_of(config.swiglu_limit)},
      {"end tokens", eos},
  };
}

}  // namespace rapt
