#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/gpt_oss/config_internal.h"

namespace rapt {

namespace {

using Rope = GptOssConfig::Rope;

Result<Rope> parse_yarn(ConfigFields& fields, std::int64_t max_position_embeddings) {
  Rope rope;
  rope.scaling = Rope::Scaling::kYarn;
  ASSIGN_OR_RETURN(
      rope.original_max_position, fields.integer({"original_max_position_embeddings"}, kPositions)
  );
  // transformers derives a factor that is not given; it is never below 1 in a sound config.
  const double implied = std::max(
      1.0,
      static_cast<double>(max_position_embeddings) / static_cast<double>(rope.original_max_position)
  );
  ASSIGN_OR_RETURN(rope.factor, fields.number_or({"factor"}, kFactors, implied));
  ASSIGN_OR_RETURN(rope.beta_fast, fields.number_or({"beta_fast"}, kPositive, 32.0));
  ASSIGN_OR_RETURN(rope.beta_slow, fields.number_or({"beta_slow"}, kPositive, 1.0));
  if (rope.beta_fast < rope.beta_slow) {
    return fields.field_error("beta_fast", "expected at least beta_slow");
  }
  ASSIGN_OR_RETURN(rope.truncate, fields.boolean_or("truncate", true));
  if (fields.find("attention_factor") != nullptr) {
    ASSIGN_OR_RETURN(rope.attention_factor, fields.number({"attention_factor"}, kPositive));
  }
  return rope;
}

// The object of `rope_scaling` (older) or `rope_parameters` (newer, with the base inside).
Result<Rope> parse_rope_object(ConfigFields& fields, std::int64_t max_position_embeddings) {
  for (const std::string_view nested : {"sliding_attention", "full_attention"}) {
    if (fields.find(nested) != nullptr) {
      return fields.field_error(
          nested, "expected one RoPE for all layers, not one per kind of layer"
      );
    }
  }
  ASSIGN_OR_RETURN(const std::string older_name, fields.text_or("type", "default"));
  ASSIGN_OR_RETURN(const std::string type, fields.text_or("rope_type", older_name));
  Rope rope;
  if (type == "yarn") {
    ASSIGN_OR_RETURN(rope, parse_yarn(fields, max_position_embeddings));
  } else if (type != "default") {
    return fields.field_error(
        fields.find("rope_type") != nullptr ? "rope_type" : "type",
        "expected \"yarn\" or \"default\""
    );
  }
  ASSIGN_OR_RETURN(rope.theta, fields.number_or({"rope_theta"}, kThetas, 0.0));
  ASSIGN_OR_RETURN(
      const double rotated_share, fields.number_or({"partial_rotary_factor"}, {0.0, 1.0}, 1.0)
  );
  if (rotated_share != 1.0) {
    return fields.field_error("partial_rotary_factor", "expected 1: RoPE turns whole heads");
  }
  // Here a field that is not known may change every logit, so that it may not be ignored.
  const std::vector<std::string> unread = fields.unread();
  if (!unread.empty()) {
    return fields.field_error(unread.front(), "this setting of RoPE is not supported");
  }
  return rope;
}

}  // namespace

// A base of 0 stands for one that is not stated.
Result<Rope> parse_hugging_face_rope(ConfigFields& fields, std::int64_t max_position_embeddings) {
  std::optional<Rope> rope;
  for (const std::string_view name : {"rope_parameters", "rope_scaling"}) {
    const json::value* value = fields.find(name);
    if (value == nullptr) {
      continue;
    }
    const std::string what = fields.what() + ": \"" + std::string(name) + "\"";
    ASSIGN_OR_RETURN(ConfigFields inner, ConfigFields::of(*value, what));
    ASSIGN_OR_RETURN(Rope parsed, parse_rope_object(inner, max_position_embeddings));
    if (rope && parsed.theta == 0.0) {
      parsed.theta = rope->theta;
    }
    if (rope && parsed != *rope) {
      return fields.field_error(name, "rope_parameters says otherwise");
    }
    rope = parsed;
  }
  const double inner_theta = rope ? rope->theta : 0.0;
  ASSIGN_OR_RETURN(const double theta, fields.number_or({"rope_theta"}, kThetas, inner_theta));
  if (inner_theta != 0.0 && theta != inner_theta) {
    return fields.field_error("rope_theta", "the rope_theta in rope_parameters says otherwise");
  }
  Rope result = rope.value_or(Rope{});
  result.theta = theta == 0.0 ? kDefaultTheta : theta;
  return result;
}

Result<Rope> parse_original_rope(ConfigFields& fields) {
  Rope rope;
  ASSIGN_OR_RETURN(rope.theta, fields.number_or({"rope_theta"}, kThetas, kDefaultTheta));
  ASSIGN_OR_RETURN(rope.factor, fields.number_or({"rope_scaling_factor"}, kFactors, 32.0));
  ASSIGN_OR_RETURN(rope.beta_slow, fields.number_or({"rope_ntk_alpha"}, kPositive, 1.0));
  ASSIGN_OR_RETURN(rope.beta_fast, fields.number_or({"rope_ntk_beta"}, kPositive, 32.0));
  if (rope.beta_fast < rope.beta_slow) {
    return fields.field_error("rope_ntk_beta", "expected at least rope_ntk_alpha");
  }
  ASSIGN_OR_RETURN(
      rope.original_max_position, fields.integer_or({"initial_context_length"}, kPositions, 4096)
  );
  rope.scaling = rope.factor > 1.0 ? Rope::Scaling::kYarn : Rope::Scaling::kNone;
  rope.truncate = false;
  return rope;
}

}  // namespace rapt
