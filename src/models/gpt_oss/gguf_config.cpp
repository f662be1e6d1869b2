#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint_dir.h"
#include "models/end_tokens_internal.h"
#include "models/gpt_oss/config_internal.h"

namespace rapt {

namespace {

using LayerType = GptOssConfig::LayerType;

// Of the lists in the metadata only that of the layers' kinds is for the config.
constexpr std::uint64_t kMaxListed = 1024;

// The keys of a GGUF file begin with the name of its dialect.
class GgufConfigReader {
 public:
  GgufConfigReader(ConfigFields& fields, std::string prefix)
      : fields_(fields), prefix_(std::move(prefix)) {}

  Result<void> read(GptOssConfig& config);

 private:
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }

  Result<std::int64_t> integer(std::string_view name, ConfigFields::IntRange range) {
    return fields_.integer({key(name)}, range);
  }

  Result<double> number_or(
      std::string_view name, ConfigFields::NumberRange range, double fallback
  ) {
    return fields_.number_or({key(name)}, range, fallback);
  }

  Result<void> read_sizes(GptOssConfig& config);
  Result<void> read_layer_types(GptOssConfig& config);
  Result<GptOssConfig::Rope> read_rope();

  ConfigFields& fields_;
  std::string prefix_;
};

Result<void> GgufConfigReader::read_sizes(GptOssConfig& config) {
  ASSIGN_OR_RETURN(config.num_layers, integer("block_count", kLayers));
  ASSIGN_OR_RETURN(config.hidden_size, integer("embedding_length", kWidths));
  // Where both are there, that of the experts counts.
  const bool names_experts = fields_.find(key("expert_feed_forward_length")) != nullptr;
  fields_.skip({key("feed_forward_length")});
  ASSIGN_OR_RETURN(
      config.intermediate_size,
      integer(names_experts ? "expert_feed_forward_length" : "feed_forward_length", kWidths)
  );
  ASSIGN_OR_RETURN(config.num_experts, integer("expert_count", kExperts));
  ASSIGN_OR_RETURN(config.experts_per_token, integer("expert_used_count", {1, config.num_experts}));
  ASSIGN_OR_RETURN(config.num_heads, integer("attention.head_count", kHeads));
  ASSIGN_OR_RETURN(config.num_kv_heads, integer("attention.head_count_kv", kHeads));
  if (config.num_heads % config.num_kv_heads != 0) {
    return fields_.field_error(
        key("attention.head_count_kv"),
        "expected a divisor of attention.head_count, " + std::to_string(config.num_heads)
    );
  }
  ASSIGN_OR_RETURN(config.head_dim, integer("attention.key_length", kHeadDims));
  ASSIGN_OR_RETURN(
      const std::int64_t value_dim,
      fields_.integer_or({key("attention.value_length")}, kHeadDims, config.head_dim)
  );
  ASSIGN_OR_RETURN(
      const std::int64_t rotated,
      fields_.integer_or({key("rope.dimension_count")}, kHeadDims, config.head_dim)
  );
  for (const auto& [name, size] :
       {std::pair("attention.value_length", value_dim),
        std::pair("rope.dimension_count", rotated)}) {
    if (size != config.head_dim) {
      return fields_.field_error(
          key(name), "expected as much as attention.key_length, " + std::to_string(config.head_dim)
      );
    }
  }
  if (config.head_dim % 2 != 0) {
    return fields_.field_error(
        key("attention.key_length"), "expected an even number, since RoPE turns pairs"
    );
  }
  return {};
}

// Absent in most files: sliding and full layers then alternate. Else a number n, every n-th layer
// being a full one, or the kind of each layer.
Result<void> GgufConfigReader::read_layer_types(GptOssConfig& config) {
  const std::string name = key("attention.sliding_window_pattern");
  const json::value* value = fields_.find(name);
  const json::array* kinds = value != nullptr ? value->if_array() : nullptr;
  std::int64_t period = 2;
  if (value != nullptr && kinds == nullptr) {
    ASSIGN_OR_RETURN(period, fields_.integer({name}, kLayers));
  }
  if (kinds != nullptr && kinds->size() != static_cast<std::size_t>(config.num_layers)) {
    return fields_.field_error(
        name,
        "expected one truth value a layer, of which there are " + std::to_string(config.num_layers)
    );
  }
  for (std::int64_t layer_idx = 0; layer_idx < config.num_layers; ++layer_idx) {
    bool slides = layer_idx % period < period - 1;
    if (kinds != nullptr) {
      const json::value& kind = (*kinds)[static_cast<std::size_t>(layer_idx)];
      if (!kind.is_bool()) {
        return fields_.field_error(name, "expected truth values");
      }
      slides = kind.get_bool();
    }
    config.layer_types.push_back(slides ? LayerType::kSlidingAttention : LayerType::kFullAttention);
  }
  ASSIGN_OR_RETURN(config.sliding_window, integer("attention.sliding_window", kPositions));
  return {};
}

Result<GptOssConfig::Rope> GgufConfigReader::read_rope() {
  GptOssConfig::Rope rope;
  ASSIGN_OR_RETURN(rope.theta, number_or("rope.freq_base", kThetas, kDefaultTheta));
  ASSIGN_OR_RETURN(rope.factor, number_or("rope.scaling.factor", kFactors, 1.0));
  // Ollama's dialect does not name the kind of scaling.
  const std::string implied = rope.factor > 1.0 ? "yarn" : "none";
  ASSIGN_OR_RETURN(const std::string type, fields_.text_or(key("rope.scaling.type"), implied));
  if (type != "yarn" && type != "none") {
    return fields_.field_error(key("rope.scaling.type"), "expected \"yarn\" or \"none\"");
  }
  ASSIGN_OR_RETURN(rope.beta_fast, number_or("rope.scaling.yarn_beta_fast", kPositive, 32.0));
  ASSIGN_OR_RETURN(rope.beta_slow, number_or("rope.scaling.yarn_beta_slow", kPositive, 1.0));
  if (rope.beta_fast < rope.beta_slow) {
    return fields_.field_error(
        key("rope.scaling.yarn_beta_fast"), "expected at least yarn_beta_slow"
    );
  }
  ASSIGN_OR_RETURN(
      rope.original_max_position,
      fields_.integer_or({key("rope.scaling.original_context_length")}, kPositions, 4096)
  );
  for (const char* name :
       {"rope.scaling.attn_factor",
        "rope.scaling.yarn_attn_factor",
        "rope.scaling.yarn_ext_factor"}) {
    ASSIGN_OR_RETURN(const double factor, number_or(name, {0.0, 1e6}, 1.0));
    if (factor != 1.0) {
      return fields_.field_error(key(name), "expected 1, as gpt-oss has it");
    }
  }
  rope.scaling =
      type == "yarn" ? GptOssConfig::Rope::Scaling::kYarn : GptOssConfig::Rope::Scaling::kNone;
  rope.truncate = false;
  return rope;
}

Result<void> GgufConfigReader::read(GptOssConfig& config) {
  RETURN_IF_ERROR(read_sizes(config));
  RETURN_IF_ERROR(read_layer_types(config));
  ASSIGN_OR_RETURN(config.max_position_embeddings, integer("context_length", kPositions));
  ASSIGN_OR_RETURN(
      config.rms_norm_eps, number_or("attention.layer_norm_rms_epsilon", kEpsilons, kDefaultEpsilon)
  );
  ASSIGN_OR_RETURN(config.rope, read_rope());
  config.swiglu_limit = kDefaultSwigluLimit;
  config.swiglu_alpha = kDefaultSwigluAlpha;
  return {};
}

}  // namespace

Result<GptOssConfig> parse_gpt_oss_gguf(const CheckpointDir& checkpoint) {
  const GgufMetadata& metadata = *checkpoint.gguf();
  ASSIGN_OR_RETURN(const std::string_view architecture, metadata.text("general.architecture"));
  const std::string prefix = std::string(architecture) + ".";
  const json::value values = metadata.to_json(prefix, kMaxListed);
  ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(values, metadata.what()));
  GptOssConfig config;
  // No key says these two: the tensors do.
  const TensorInfo* embedding = checkpoint.find("token_embd.weight");
  if (embedding == nullptr || embedding->dims.size() != 2) {
    return bad_file(metadata.what() + " has no matrix \"token_embd.weight\"");
  }
  config.vocab_size = embedding->dims[0];
  if (config.vocab_size < kVocabulary.min || config.vocab_size > kVocabulary.max) {
    return bad_file(
        metadata.what() + ": \"token_embd.weight\" is for " + std::to_string(config.vocab_size) +
        " tokens; expected 1 to " + std::to_string(kVocabulary.max)
    );
  }
  config.attention_bias = checkpoint.find("blk.0.attn_q.bias") != nullptr ||
                          checkpoint.find("blk.0.attn_qkv.bias") != nullptr;
  fields.skip({prefix + "vocab_size"});
  RETURN_IF_ERROR(GgufConfigReader(fields, prefix).read(config));
  add_own_end_tokens(config);
  RETURN_IF_ERROR(add_gguf_end_tokens(metadata, config.vocab_size, config.eos_token_ids));
  if (metadata.has("tokenizer.ggml.padding_token_id")) {
    ASSIGN_OR_RETURN(const std::int64_t pad, metadata.integer("tokenizer.ggml.padding_token_id"));
    if (pad >= 0 && pad < config.vocab_size) {
      config.pad_token_id = static_cast<std::int32_t>(pad);
    }
  }
  const TensorInfo* experts = checkpoint.find("blk.0.ffn_down_exps.weight");
  if (experts != nullptr && experts->type_name() == "MXFP4") {
    config.quant_method = GptOssConfig::QuantMethod::kMxfp4;
  }
  const std::vector<std::string> unread = fields.unread();
  config.ignored_fields.insert(config.ignored_fields.end(), unread.begin(), unread.end());
  return config;
}

}  // namespace rapt
