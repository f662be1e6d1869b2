#include <string>
#include <utility>

#include "checkpoint/checkpoint_dir.h"
#include "models/end_tokens_internal.h"
#include "models/llama/config_internal.h"

namespace rapt {

namespace {

using Rope = LlamaConfig::Rope;

constexpr std::string_view kPrefix = "llama.";
constexpr std::uint64_t kMaxListed = 64;

std::string key(std::string_view name) {
  return std::string(kPrefix) + std::string(name);
}

Result<Rope> read_rope(ConfigFields& fields) {
  Rope rope;
  ASSIGN_OR_RETURN(
      rope.theta, fields.number_or({key("rope.freq_base")}, llama::kThetas, llama::kDefaultTheta)
  );
  // Older files know one kind of scaling and do not name it.
  ASSIGN_OR_RETURN(
      const double older_factor, fields.number_or({key("rope.scale_linear")}, llama::kFactors, 1.0)
  );
  ASSIGN_OR_RETURN(
      rope.factor, fields.number_or({key("rope.scaling.factor")}, llama::kFactors, older_factor)
  );
  const std::string implied = rope.factor > 1.0 ? "linear" : "none";
  ASSIGN_OR_RETURN(const std::string type, fields.text_or(key("rope.scaling.type"), implied));
  if (type == "linear") {
    rope.scaling = Rope::Scaling::kLinear;
  } else if (type != "none") {
    return fields.field_error(key("rope.scaling.type"), "expected \"linear\" or \"none\"");
  }
  fields.skip({key("rope.scaling.original_context_length"), key("rope.scaling.finetuned")});
  return rope;
}

Result<void> read_sizes(ConfigFields& fields, LlamaConfig& config) {
  ASSIGN_OR_RETURN(config.num_layers, fields.integer({key("block_count")}, llama::kLayers));
  ASSIGN_OR_RETURN(config.hidden_size, fields.integer({key("embedding_length")}, llama::kWidths));
  ASSIGN_OR_RETURN(
      config.intermediate_size, fields.integer({key("feed_forward_length")}, llama::kWidths)
  );
  ASSIGN_OR_RETURN(config.num_heads, fields.integer({key("attention.head_count")}, llama::kHeads));
  ASSIGN_OR_RETURN(
      config.num_kv_heads,
      fields.integer_or({key("attention.head_count_kv")}, llama::kHeads, config.num_heads)
  );
  const std::int64_t implied = config.hidden_size / config.num_heads;
  ASSIGN_OR_RETURN(
      config.head_dim, fields.integer_or({key("attention.key_length")}, llama::kHeadDims, implied)
  );
  RETURN_IF_ERROR(llama::check_heads(
      config, fields, key("attention.head_count_kv"), key("attention.key_length")
  ));
  for (const char* name : {"attention.value_length", "rope.dimension_count"}) {
    ASSIGN_OR_RETURN(
        const std::int64_t size, fields.integer_or({key(name)}, llama::kHeadDims, config.head_dim)
    );
    if (size != config.head_dim) {
      return fields.field_error(
          key(name), "expected the size of a head, " + std::to_string(config.head_dim)
      );
    }
  }
  ASSIGN_OR_RETURN(
      const std::int64_t num_experts, fields.integer_or({key("expert_count")}, {0}, 0)
  );
  if (num_experts != 0) {
    return fields.field_error(key("expert_count"), "expected a dense model");
  }
  ASSIGN_OR_RETURN(
      const std::int64_t window, fields.integer_or({key("attention.sliding_window")}, {0}, 0)
  );
  if (window != 0) {
    return fields.field_error(
        key("attention.sliding_window"), "expected none: layers of this model see every position"
    );
  }
  fields.skip({key("expert_used_count"), key("vocab_size")});
  return {};
}

}  // namespace

Result<LlamaConfig> parse_llama_gguf(const CheckpointDir& checkpoint) {
  const GgufMetadata& metadata = *checkpoint.gguf();
  const json::value values = metadata.to_json(kPrefix, kMaxListed);
  ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(values, metadata.what()));
  LlamaConfig config;
  RETURN_IF_ERROR(read_sizes(fields, config));
  ASSIGN_OR_RETURN(
      config.max_position_embeddings, fields.integer({key("context_length")}, llama::kPositions)
  );
  ASSIGN_OR_RETURN(
      config.rms_norm_eps,
      fields.number({key("attention.layer_norm_rms_epsilon")}, llama::kEpsilons)
  );
  ASSIGN_OR_RETURN(config.rope, read_rope(fields));
  const TensorInfo* embedding = checkpoint.find("token_embd.weight");
  if (embedding == nullptr || embedding->dims.size() != 2 ||
      embedding->dims[0] < llama::kVocabulary.min || embedding->dims[0] > llama::kVocabulary.max) {
    return bad_file(
        metadata.what() + " has no matrix \"token_embd.weight\" of 1 to " +
        std::to_string(llama::kVocabulary.max) + " rows"
    );
  }
  config.vocab_size = embedding->dims[0];
  config.is_tied = checkpoint.find("output.weight") == nullptr;
  RETURN_IF_ERROR(add_gguf_end_tokens(metadata, config.vocab_size, config.eos_token_ids));
  const std::vector<std::string> unread = fields.unread();
  config.ignored_fields.insert(config.ignored_fields.end(), unread.begin(), unread.end());
  return config;
}

}  // namespace rapt
