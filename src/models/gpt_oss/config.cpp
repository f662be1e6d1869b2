#include "models/gpt_oss/config.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "checkpoint/config_fields.h"
#include "models/end_tokens_internal.h"
#include "models/gpt_oss/config_internal.h"

namespace rapt {

namespace {

using LayerType = GptOssConfig::LayerType;
using QuantMethod = GptOssConfig::QuantMethod;

// What holds for the published models where a config does not say.
constexpr std::int64_t kDefaultMaxPositions = 131072;

// <|endoftext|>, <|return|>, <|call|>: where a gpt-oss answer ends. A vocabulary that reaches the
// last one is the real one.
constexpr std::int32_t kEndTokens[] = {199999, 200002, 200012};

Result<void> parse_sizes(ConfigFields& fields, GptOssConfig& config) {
  ASSIGN_OR_RETURN(config.num_layers, fields.integer({"num_hidden_layers"}, kLayers));
  ASSIGN_OR_RETURN(config.hidden_size, fields.integer({"hidden_size"}, kWidths));
  ASSIGN_OR_RETURN(config.intermediate_size, fields.integer({"intermediate_size"}, kWidths));
  ASSIGN_OR_RETURN(
      config.num_experts, fields.integer({"num_local_experts", "num_experts"}, kExperts)
  );
  ASSIGN_OR_RETURN(
      config.experts_per_token,
      fields.integer({"num_experts_per_tok", "experts_per_token"}, kExperts)
  );
  if (config.experts_per_token > config.num_experts) {
    return fields.field_error(
        fields.find("num_experts_per_tok") != nullptr ? "num_experts_per_tok" : "experts_per_token",
        "expected at most the number of experts, " + std::to_string(config.num_experts)
    );
  }
  ASSIGN_OR_RETURN(config.num_heads, fields.integer({"num_attention_heads"}, kHeads));
  ASSIGN_OR_RETURN(config.num_kv_heads, fields.integer({"num_key_value_heads"}, kHeads));
  if (config.num_heads % config.num_kv_heads != 0) {
    return fields.field_error(
        "num_key_value_heads",
        "expected a divisor of num_attention_heads, " + std::to_string(config.num_heads)
    );
  }
  ASSIGN_OR_RETURN(config.head_dim, fields.integer({"head_dim"}, kHeadDims));
  if (config.head_dim % 2 != 0) {
    return fields.field_error("head_dim", "expected an even number, since RoPE turns pairs");
  }
  ASSIGN_OR_RETURN(config.vocab_size, fields.integer({"vocab_size"}, kVocabulary));
  return {};
}

// `value` is null when the config leaves the kinds out: sliding and full layers then alternate.
Result<void> parse_layer_types(ConfigFields& fields, GptOssConfig& config) {
  const json::value* value = fields.find("layer_types");
  if (value == nullptr) {
    for (std::int64_t layer_idx = 0; layer_idx < config.num_layers; ++layer_idx) {
      config.layer_types.push_back(
          layer_idx % 2 == 0 ? LayerType::kSlidingAttention : LayerType::kFullAttention
      );
    }
    return {};
  }
  const std::string expected =
      "expected an array of num_hidden_layers = " + std::to_string(config.num_layers) +
      " names, each \"sliding_attention\" or \"full_attention\"";
  if (!value->is_array() ||
      value->get_array().size() != static_cast<std::size_t>(config.num_layers)) {
    return fields.field_error("layer_types", expected);
  }
  for (const json::value& item : value->get_array()) {
    if (item == "sliding_attention") {
      config.layer_types.push_back(LayerType::kSlidingAttention);
    } else if (item == "full_attention") {
      config.layer_types.push_back(LayerType::kFullAttention);
    } else {
      return fields.field_error("layer_types", expected);
    }
  }
  return {};
}

Result<void> parse_sliding_window(ConfigFields& fields, GptOssConfig& config) {
  const auto is_sliding = [](LayerType type) { return type == LayerType::kSlidingAttention; };
  if (std::any_of(config.layer_types.begin(), config.layer_types.end(), is_sliding)) {
    ASSIGN_OR_RETURN(config.sliding_window, fields.integer({"sliding_window"}, kPositions));
  } else {
    fields.skip({"sliding_window"});
  }
  return {};
}

}  // namespace

void add_own_end_tokens(GptOssConfig& config) {
  if (config.vocab_size > *std::max_element(std::begin(kEndTokens), std::end(kEndTokens))) {
    config.eos_token_ids.assign(std::begin(kEndTokens), std::end(kEndTokens));
  }
}

namespace {

Result<void> parse_token_ids(ConfigFields& fields, GptOssConfig& config) {
  add_own_end_tokens(config);
  RETURN_IF_ERROR(add_end_tokens(fields, config.vocab_size, config.eos_token_ids));
  ASSIGN_OR_RETURN(const std::int64_t pad, fields.integer_or({"pad_token_id"}, {-1}, -1));
  if (pad >= 0 && pad < config.vocab_size) {
    config.pad_token_id = static_cast<std::int32_t>(pad);
  }
  return {};
}

Result<QuantMethod> parse_quant_method(ConfigFields& fields) {
  const json::value* value = fields.find("quantization_config");
  if (value == nullptr) {
    return QuantMethod::kNone;
  }
  ASSIGN_OR_RETURN(
      ConfigFields inner, ConfigFields::of(*value, fields.what() + ": \"quantization_config\"")
  );
  ASSIGN_OR_RETURN(const std::string method, inner.text_or("quant_method", ""));
  if (method != "mxfp4") {
    return inner.field_error(
        "quant_method", "expected \"mxfp4\", or no quantization_config for BF16 weights"
    );
  }
  return QuantMethod::kMxfp4;
}

// Values that some configs state and that the model's definition fixes.
Result<void> check_fixed(ConfigFields& fields) {
  ASSIGN_OR_RETURN(const std::string type, fields.text_or("model_type", "gpt_oss"));
  if (type != "gpt_oss") {
    return fields.field_error("model_type", "expected \"gpt_oss\"");
  }
  ASSIGN_OR_RETURN(const bool is_tied, fields.boolean_or("tie_word_embeddings", false));
  if (is_tied) {
    return fields.field_error(
        "tie_word_embeddings", "expected false: gpt-oss has an output head of its own"
    );
  }
  ASSIGN_OR_RETURN(const std::string act, fields.text_or("hidden_act", "silu"));
  if (act != "silu") {
    return fields.field_error(
        "hidden_act", "expected \"silu\", which stands for the clamped swiglu here"
    );
  }
  return {};
}

Result<GptOssConfig> parse_hugging_face(ConfigFields& fields) {
  GptOssConfig config;
  RETURN_IF_ERROR(check_fixed(fields));
  RETURN_IF_ERROR(parse_sizes(fields, config));
  RETURN_IF_ERROR(parse_layer_types(fields, config));
  RETURN_IF_ERROR(parse_sliding_window(fields, config));
  ASSIGN_OR_RETURN(
      config.max_position_embeddings, fields.integer({"max_position_embeddings"}, kPositions)
  );
  ASSIGN_OR_RETURN(
      config.rms_norm_eps, fields.number_or({"rms_norm_eps"}, kEpsilons, kDefaultEpsilon)
  );
  ASSIGN_OR_RETURN(
      config.swiglu_limit, fields.number_or({"swiglu_limit"}, kPositive, kDefaultSwigluLimit)
  );
  ASSIGN_OR_RETURN(
      config.swiglu_alpha, fields.number_or({"swiglu_alpha"}, kPositive, kDefaultSwigluAlpha)
  );
  ASSIGN_OR_RETURN(config.attention_bias, fields.boolean_or("attention_bias", true));
  ASSIGN_OR_RETURN(config.rope, parse_hugging_face_rope(fields, config.max_position_embeddings));
  RETURN_IF_ERROR(parse_token_ids(fields, config));
  ASSIGN_OR_RETURN(config.quant_method, parse_quant_method(fields));
  // Training and housekeeping: no say in what the model computes. The head of a prompt is the chat
  // format's business, hence not the bos id's.
  fields.skip(
      {"architectures",
       "attention_dropout",
       "bos_token_id",
       "dtype",
       "torch_dtype",
       "initial_context_length",
       "initializer_range",
       "output_router_logits",
       "router_aux_loss_coef",
       "transformers_version",
       "use_cache",
       "_name_or_path"}
  );
  const std::vector<std::string> unread = fields.unread();
  config.ignored_fields.insert(config.ignored_fields.end(), unread.begin(), unread.end());
  return config;
}

Result<GptOssConfig> parse_original(ConfigFields& fields) {
  GptOssConfig config;
  RETURN_IF_ERROR(parse_sizes(fields, config));
  RETURN_IF_ERROR(parse_layer_types(fields, config));
  RETURN_IF_ERROR(parse_sliding_window(fields, config));
  ASSIGN_OR_RETURN(
      config.swiglu_limit, fields.number_or({"swiglu_limit"}, kPositive, kDefaultSwigluLimit)
  );
  ASSIGN_OR_RETURN(config.rope, parse_original_rope(fields));
  config.max_position_embeddings = kDefaultMaxPositions;
  config.rms_norm_eps = kDefaultEpsilon;
  config.quant_method = QuantMethod::kMxfp4;
  RETURN_IF_ERROR(parse_token_ids(fields, config));
  const std::vector<std::string> unread = fields.unread();
  config.ignored_fields.insert(config.ignored_fields.end(), unread.begin(), unread.end());
  return config;
}

}  // namespace

Result<GptOssConfig> parse_gpt_oss_config(const json::value& value, std::string_view what) {
  ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(value, what));
  const bool has_original_keys = fields.find("rope_scaling_factor") != nullptr ||
                                 fields.find("rope_ntk_alpha") != nullptr ||
                                 fields.find("rope_ntk_beta") != nullptr;
  const bool is_original = has_original_keys && fields.find("model_type") == nullptr;
  return is_original ? parse_original(fields) : parse_hugging_face(fields);
}

Result<void> add_generation_config(
    GptOssConfig& config, const json::value& value, std::string_view what
) {
  ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(value, what));
  return add_end_tokens(fields, config.vocab_size, config.eos_token_ids);
}

namespace {

// Parameters of all layers when each has `num_experts` experts beside its router.
std::int64_t num_layer_parameters(const GptOssConfig& config, std::int64_t num_experts) {
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t q_size = config.num_heads * config.head_dim;
  const std::int64_t kv_size = config.num_kv_heads * config.head_dim;
  std::int64_t attention = 2 * (q_size + kv_size) * hidden + config.num_heads;
  if (config.attention_bias) {
    attention += q_size + 2 * kv_size + hidden;
  }
  const std::int64_t expert =
      (2 * config.intermediate_size) * (hidden + 1) + hidden * (config.intermediate_size + 1);
  const std::int64_t router = config.num_experts * (hidden + 1);
  const std::int64_t norms = 2 * hidden;
  return config.num_layers * (attention + num_experts * expert + router + norms);
}

}  // namespace

std::int64_t num_parameters(const GptOssConfig& config) {
  const std::int64_t tables = 2 * config.vocab_size * config.hidden_size;
  return tables + num_layer_parameters(config, config.num_experts) + config.hidden_size;
}

std::int64_t num_active_parameters(const GptOssConfig& config) {
  const std::int64_t head = config.vocab_size * config.hidden_size;
  return head + num_layer_parameters(config, config.experts_per_token) + config.hidden_size;
}

}  // namespace rapt
