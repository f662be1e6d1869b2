#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/slots.h"
#include "base/json.h"
#include "base/result.h"

namespace rapt {

// What a model asks of attention: all that the choice of a backend depends on, known before a
// weight is read. Plain value, any thread.
struct AttentionModel {
  std::string name;    // "gpt-oss-20b"
  std::string family;  // "gpt-oss": how messages speak of such models
  int num_full_layers = 0;
  int num_sliding_layers = 0;
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;
  int window = 0;  // of the sliding layers, a query's own position included
  bool has_sinks = false;
  bool has_soft_cap = false;
  bool is_mla = false;  // multi-head latent attention; then the head counts say nothing
  std::int64_t max_context = 0;

  int num_layers() const { return num_full_layers + num_sliding_layers; }

  int num_layers(AttentionLayerKind kind) const {
    return kind == AttentionLayerKind::kFull ? num_full_layers : num_sliding_layers;
  }

  int gqa_ratio() const { return num_kv_heads > 0 ? num_heads / num_kv_heads : 0; }
};

// The built-in presets, so that plans can be asked for without a checkpoint: "openai/gpt-oss-20b",
// "gpt-oss-20b" or "20b", and so on, in any case.
std::optional<AttentionModel> find_attention_preset(std::string_view name);
std::vector<std::string_view> attention_preset_names();

// Reads what a config.json says. `name` is what the user called the model. An error names the field
// that is missing or wrong. Sinks are assumed where the architecture has them.
Result<AttentionModel> read_attention_model(const json::value& config, std::string_view name);

// "24 layers (12 sliding w=128, 12 full), 64/8 heads x 64, sinks on all layers"
std::string describe(const AttentionModel& model);

}  // namespace rapt
