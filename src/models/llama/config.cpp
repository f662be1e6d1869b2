#include "models/llama/config.h"

#include <utility>

#include "models/end_tokens_internal.h"
#include "models/llama/config_internal.h"

namespace rapt {

namespace llama {

Result<void> check_heads(
    const LlamaConfig& config,
    const ConfigFields& fields,
    std::string_view kv_heads_name,
    std::string_view head_dim_name
) {
  if (config.num_heads % config.num_kv_heads != 0) {
    return fields.field_error(
        kv_heads_name,
        "expected a divisor of the number of query heads, " + std::to_string(config.num_heads)
    );
  }
  if (config.head_dim < kHeadDims.min || config.head_dim > kHeadDims.max ||
      config.head_dim % 2 != 0) {
    return fields.field_error(
        head_dim_name,
        "heads would have " + std::to_string(config.head_dim) +
            " elements; expected an even number from 2 to " + std::to_string(kHeadDims.max)
    );
  }
  return {};
}

}  // namespace llama

namespace {

using Rope = LlamaConfig::Rope;

Result<Rope> parse_rope_scaling(ConfigFields& fields) {
  Rope rope;
  ASSIGN_OR_RETURN(rope.theta, fields.number_or({"rope_theta"}, llama::kThetas, 0.0));
  ASSIGN_OR_RETURN(const std::string older_name, fields.text_or("type", "default"));
  ASSIGN_OR_RETURN(const std::string type, fields.text_or("rope_type", older_name));
  if (type == "linear") {
    rope.scaling = Rope::Scaling::kLinear;
    ASSIGN_OR_RETURN(rope.factor, fields.number({"factor"}, llama::kFactors));
  } else if (type == "llama3") {
    rope.scaling = Rope::Scaling::kLlama3;
    ASSIGN_OR_RETURN(rope.factor, fields.number({"factor"}, llama::kFactors));
    ASSIGN_OR_RETURN(rope.low_freq_factor, fields.number({"low_freq_factor"}, llama::kPositive));
    ASSIGN_OR_RETURN(rope.high_freq_factor, fields.number({"high_freq_factor"}, llama::kPositive));
    if (rope.high_freq_factor <= rope.low_freq_factor) {
      return fields.field_error("high_freq_factor", "expected more than low_freq_factor");
    }
    ASSIGN_OR_RETURN(
        rope.original_max_position,
        fields.integer({"original_max_position_embeddings"}, llama::kPositions)
    );
  } else if (type != "default") {
    return fields.field_error(
        fields.find("rope_type") != nullptr ? "rope_type" : "type",
        "expected \"default\", \"linear\" or \"llama3\""
    );
  }
  // Here a field that is not known may change every logit, so that it may not be ignored.
  const std::vector<std::string> unread = fields.unread();
  if (!unread.empty()) {
    return fields.field_error(unread.front(), "this setting of RoPE is not supported");
  }
  return rope;
}

// `rope_scaling` and `rope_theta`, or the newer `rope_parameters` with both inside.
Result<Rope> parse_rope(ConfigFields& fields) {
  Rope rope;
  rope.theta = 0.0;
  for (const std::string_view name : {"rope_parameters", "rope_scaling"}) {
    if (const json::value* value = fields.find(name)) {
      const std::string what = fields.what() + ": \"" + std::string(name) + "\"";
      ASSIGN_OR_RETURN(ConfigFields inner, ConfigFields::of(*value, what));
      ASSIGN_OR_RETURN(rope, parse_rope_scaling(inner));
      break;
    }
  }
  const double fallback = rope.theta == 0.0 ? llama::kDefaultTheta : rope.theta;
  ASSIGN_OR_RETURN(rope.theta, fields.number_or({"rope_theta"}, llama::kThetas, fallback));
  return rope;
}

// Settings that would change what the model computes, to what it cannot.
Result<void> check_fixed(ConfigFields& fields) {
  ASSIGN_OR_RETURN(const std::string act, fields.text_or("hidden_act", "silu"));
  if (act != "silu") {
    return fields.field_error("hidden_act", "expected \"silu\"");
  }
  ASSIGN_OR_RETURN(
      const double rotated_share, fields.number_or({"partial_rotary_factor"}, {0.0, 1.0}, 1.0)
  );
  if (rotated_share != 1.0) {
    return fields.field_error("partial_rotary_factor", "expected 1: RoPE turns whole heads");
  }
  if (fields.find("sliding_window") != nullptr) {
    return fields.field_error(
        "sliding_window", "expected null: layers of this model see every position"
    );
  }
  if (fields.find("quantization_config") != nullptr) {
    return fields.field_error("quantization_config", "expected plain weights");
  }
  return {};
}

}  // namespace

Result<LlamaConfig> parse_llama_config(const json::value& value, std::string_view what) {
  ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(value, what));
  LlamaConfig config;
  RETURN_IF_ERROR(check_fixed(fields));
  ASSIGN_OR_RETURN(config.num_layers, fields.integer({"num_hidden_layers"}, llama::kLayers));
  ASSIGN_OR_RETURN(config.hidden_size, fields.integer({"hidden_size"}, llama::kWidths));
  ASSIGN_OR_RETURN(config.intermediate_size, fields.integer({"intermediate_size"}, llama::kWidths));
  ASSIGN_OR_RETURN(config.num_heads, fields.integer({"num_attention_heads"}, llama::kHeads));
  ASSIGN_OR_RETURN(
      config.num_kv_heads,
      fields.integer_or({"num_key_value_heads"}, llama::kHeads, config.num_heads)
  );
  ASSIGN_OR_RETURN(
      config.head_dim,
      fields.integer_or({"head_dim"}, llama::kHeadDims, config.hidden_size / config.num_heads)
  );
  RETURN_IF_ERROR(llama::check_heads(config, fields, "num_key_value_heads", "head_dim"));
  ASSIGN_OR_RETURN(config.vocab_size, fields.integer({"vocab_size"}, llama::kVocabulary));
  ASSIGN_OR_RETURN(
      config.max_position_embeddings,
      fields.integer_or({"max_position_embeddings"}, llama::kPositions, 2048)
  );
  ASSIGN_OR_RETURN(config.rms_norm_eps, fields.number_or({"rms_norm_eps"}, llama::kEpsilons, 1e-6));
  ASSIGN_OR_RETURN(config.is_tied, fields.boolean_or("tie_word_embeddings", false));
  ASSIGN_OR_RETURN(config.rope, parse_rope(fields));
  RETURN_IF_ERROR(add_end_tokens(fields, config.vocab_size, config.eos_token_ids));
  // Training and housekeeping, and what the tensors' names say anyway.
  fields.skip(
      {"_name_or_path",
       "architectures",
       "attention_bias",
       "attention_dropout",
       "bos_token_id",
       "dtype",
       "initializer_range",
       "is_llama_config",
       "mlp_bias",
       "model_type",
       "pad_token_id",
       "pretraining_tp",
       "torch_dtype",
       "transformers_version",
       "use_cache"}
  );
  const std::vector<std::string> unread = fields.unread();
  config.ignored_fields.insert(config.ignored_fields.end(), unread.begin(), unread.end());
  return config;
}

Result<void> add_llama_generation_config(
    LlamaConfig& config, const json::value& value, std::string_view what
) {
  ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(value, what));
  return add_end_tokens(fields, config.vocab_size, config.eos_token_ids);
}

std::int64_t num_parameters(const LlamaConfig& config) {
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t q_size = config.num_heads * config.head_dim;
  const std::int64_t kv_size = config.num_kv_heads * config.head_dim;
  const std::int64_t attention = 2 * (q_size + kv_size) * hidden;
  const std::int64_t layer = attention + 3 * hidden * config.intermediate_size + 2 * hidden;
  const std::int64_t table = config.vocab_size * hidden;
  return config.num_layers * layer + hidden + (config.is_tied ? 1 : 2) * table;
}

}  // namespace rapt
