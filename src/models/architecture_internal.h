#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "models/model.h"

namespace rapt {

// One architecture that a model's folder can load, under the names that checkpoints have for it.
// Every folder of models/model_list.cmake defines
// `std::span<const ArchitectureEntry> <folder>_architectures()`.
struct ArchitectureEntry {
  std::string_view name;        // as config.json's "architectures" spells it
  std::string_view gguf_names;  // as "general.architecture" spells it: "gpt-oss|gptoss"; "": none
  // OpenAI's own layout, which names no architecture, holds this one.
  bool is_original_layout = false;
  Result<std::unique_ptr<Model>> (*load)(CheckpointDir checkpoint) = {};
  // What attention needs, from a config.json (`what` names it in errors) or a GGUF file; the
  // model's name is left to the caller.
  Result<AttentionModel> (*attention_of_json)(const json::value& json, std::string_view what) = {};
  Result<AttentionModel> (*attention_of_gguf)(const CheckpointDir& checkpoint) = {};
};

// Of all folders, in the order of the list; made by models/model_list.cmake.
std::span<const std::span<const ArchitectureEntry>> architectures_of_models();

}  // namespace rapt
