#include "attention/select/attention_model.h"

#include <array>

#include "attention/select/text_internal.h"

namespace rapt {

namespace {

struct Preset {
  std::string_view name;
  std::string_view family;
  std::string_view spellings;  // lower case, beside `name`
  int num_full_layers;
  int num_sliding_layers;
  int num_heads;
  int num_kv_heads;
  int head_dim;
  int window;
  bool has_sinks;
  std::int64_t max_context;
};

constexpr std::array<Preset, 3> kPresets = {{
    {"gpt-oss-20b", "gpt-oss", "openai/gpt-oss-20b 20b", 12, 12, 64, 8, 64, 128, true, 131072},
    {"gpt-oss-120b", "gpt-oss", "openai/gpt-oss-120b 120b", 18, 18, 64, 8, 64, 128, true, 131072},
    {"llama-3.1-8b",
     "Llama",
     "meta-llama/llama-3.1-8b meta-llama/llama-3.1-8b-instruct llama",
     32,
     0,
     32,
     8,
     128,
     0,
     false,
     131072},
}};

Result<std::int64_t> read_count(
    const json::object& config, std::string_view field, std::int64_t least, std::int64_t fallback
) {
  const json::value* value = config.if_contains(field);
  if ((value == nullptr || value->is_null()) && fallback >= 0) {
    return fallback;
  }
  if (value == nullptr) {
    return bad_file("config.json has no " + std::string(field) + ", which attention depends on");
  }
  const bool is_good =
      value->is_int64() && value->as_int64() >= least && value->as_int64() <= (1 << 30);
  if (!is_good) {
    return bad_file(
        "config.json: " + std::string(field) + " is " + to_json_text(*value) +
        ", expected a whole number from " + std::to_string(least)
    );
  }
  return value->as_int64();
}

// Counts the entries of "layer_types"; without it, a window makes every layer slide.
Result<void> read_layers(const json::object& config, AttentionModel& model) {
  ASSIGN_OR_RETURN(const std::int64_t num_layers, read_count(config, "num_hidden_layers", 1, -1));
  ASSIGN_OR_RETURN(std::int64_t window, read_count(config, "sliding_window", 1, 0));
  const json::value* uses_window = config.if_contains("use_sliding_window");
  if (uses_window != nullptr && uses_window->is_bool() && !uses_window->as_bool()) {
    window = 0;
  }
  const json::value* types = config.if_contains("layer_types");
  if (types == nullptr || types->is_null()) {
    const bool alternates = model.family == "gpt-oss" && window > 0;
    const std::int64_t num_sliding = alternates   ? (num_layers + 1) / 2
                                     : window > 0 ? num_layers
                                                  : 0;
    model.num_sliding_layers = static_cast<int>(num_sliding);
    model.num_full_layers = static_cast<int>(num_layers - num_sliding);
  } else if (!types->is_array() || types->as_array().size() != static_cast<std::size_t>(num_layers)) {
    return bad_file(
        "config.json: layer_types must list all " + std::to_string(num_layers) + " layers"
    );
  } else {
    for (const json::value& type : types->as_array()) {
      const bool is_sliding = type.is_string() && type.as_string() == "sliding_attention";
      const bool is_full = type.is_string() && type.as_string() == "full_attention";
      if (!is_sliding && !is_full) {
        return bad_file(
            "config.json: layer_types holds " + to_json_text(type) +
            "; known are full_attention and sliding_attention"
        );
      }
      (is_sliding ? model.num_sliding_layers : model.num_full_layers) += 1;
    }
  }
  if (model.num_sliding_layers > 0 && window == 0) {
    return bad_file("config.json has sliding layers but no sliding_window");
  }
  model.window = model.num_sliding_layers > 0 ? static_cast<int>(window) : 0;
  return {};
}

std::string family_of(std::string_view architecture) {
  if (architecture == "GptOssForCausalLM") {
    return "gpt-oss";
  }
  const std::size_t end = architecture.find("For");
  return std::string(architecture.substr(0, end == 0 ? architecture.npos : end));
}

// The last component: what a folder or a repository is called.
std::string base_name(std::string_view name) {
  while (name.size() > 1 && name.ends_with('/')) {
    name.remove_suffix(1);
  }
  const std::size_t slash = name.rfind('/');
  return std::string(slash == name.npos || name.size() == 1 ? name : name.substr(slash + 1));
}

}  // namespace

std::optional<AttentionModel> find_attention_preset(std::string_view name) {
  const std::string lower = lower_case(trim_blanks(name));
  for (const Preset& preset : kPresets) {
    if (preset.name == lower || contains_word(preset.spellings, lower)) {
      return AttentionModel{
          .name = std::string(preset.name),
          .family = std::string(preset.family),
          .num_full_layers = preset.num_full_layers,
          .num_sliding_layers = preset.num_sliding_layers,
          .num_heads = preset.num_heads,
          .num_kv_heads = preset.num_kv_heads,
          .head_dim = preset.head_dim,
          .window = preset.window,
          .has_sinks = preset.has_sinks,
          .max_context = preset.max_context,
      };
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> attention_preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets) {
    names.push_back(preset.name);
  }
  return names;
}

Result<AttentionModel> read_attention_model(const json::value& config, std::string_view name) {
  if (!config.is_object()) {
    return bad_file(
        "config.json: expected an object, found " + std::string(json_kind_name(config))
    );
  }
  const json::object& fields = config.as_object();
  AttentionModel model;
  model.name = base_name(name);
  const json::value* architectures = fields.if_contains("architectures");
  if (architectures != nullptr && architectures->is_array() && !architectures->as_array().empty() &&
      architectures->as_array().front().is_string()) {
    model.family = family_of(architectures->as_array().front().as_string());
  } else {
    model.family = model.name;
  }
  RETURN_IF_ERROR(read_layers(fields, model));
  ASSIGN_OR_RETURN(const std::int64_t num_heads, read_count(fields, "num_attention_heads", 1, -1));
  ASSIGN_OR_RETURN(
      const std::int64_t num_kv_heads, read_count(fields, "num_key_value_heads", 1, num_heads)
  );
  if (num_heads % num_kv_heads != 0) {
    return bad_file(
        "config.json: num_key_value_heads " + std::to_string(num_kv_heads) +
        " does not divide num_attention_heads " + std::to_string(num_heads)
    );
  }
  ASSIGN_OR_RETURN(std::int64_t head_dim, read_count(fields, "head_dim", 1, 0));
  if (head_dim == 0) {
    ASSIGN_OR_RETURN(const std::int64_t hidden_size, read_count(fields, "hidden_size", 1, -1));
    head_dim = hidden_size / num_heads;
  }
  ASSIGN_OR_RETURN(model.max_context, read_count(fields, "max_position_embeddings", 1, 131072));
  model.num_heads = static_cast<int>(num_heads);
  model.num_kv_heads = static_cast<int>(num_kv_heads);
  model.head_dim = static_cast<int>(head_dim);
  model.has_sinks = model.family == "gpt-oss";
  model.has_soft_cap = fields.if_contains("attn_logit_softcapping") != nullptr &&
                       !fields.at("attn_logit_softcapping").is_null();
  model.is_mla =
      fields.if_contains("kv_lora_rank") != nullptr && !fields.at("kv_lora_rank").is_null();
  return model;
}

std::string describe(const AttentionModel& model) {
  std::string text = std::to_string(model.num_layers()) + " layers";
  if (model.num_sliding_layers > 0) {
    text += " (" + std::to_string(model.num_sliding_layers) +
            " sliding w=" + std::to_string(model.window) + ", " +
            std::to_string(model.num_full_layers) + " full)";
  }
  text += ", " + std::to_string(model.num_heads) + "/" + std::to_string(model.num_kv_heads) +
          " heads x " + std::to_string(model.head_dim);
  text += model.has_sinks ? ", sinks on all layers" : ", no sinks";
  if (model.has_soft_cap) {
    text += ", soft cap";
  }
  if (model.is_mla) {
    text += ", multi-head latent attention";
  }
  return text;
}

}  // namespace rapt
