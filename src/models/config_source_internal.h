#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/text_file.h"

namespace rapt {

// How a family reads its config out of each layout. `what` names the file in messages.
template <typename Config>
struct ConfigParsers {
  Result<Config> (*gguf)(const CheckpointDir& checkpoint);
  Result<Config> (*json)(const json::value& value, std::string_view what);
  // Adds what generation_config.json says, which most checkpoints have.
  Result<void> (*add_generation)(Config& config, const json::value& value, std::string_view what);
};

// The config of a checkpoint, wherever its layout has it. Fields that were read and do nothing are
// logged: Config has them in `ignored_fields`.
template <typename Config>
Result<Config> read_model_config(
    const CheckpointDir& checkpoint, const ConfigParsers<Config>& parsers
) {
  Config config;
  std::string where;
  if (checkpoint.gguf() != nullptr) {
    where = checkpoint.gguf()->what();
    ASSIGN_OR_RETURN(config, parsers.gguf(checkpoint));
  } else {
    where = checkpoint.find_companion("config.json").value_or("config.json");
    ASSIGN_OR_RETURN(const json::value value, checkpoint.read_config());
    ASSIGN_OR_RETURN(config, parsers.json(value, where));
    if (const auto path = checkpoint.find_companion("generation_config.json")) {
      ASSIGN_OR_RETURN(const json::value generation, read_json_file(*path));
      RETURN_IF_ERROR(parsers.add_generation(config, generation, *path));
    }
  }
  if (!config.ignored_fields.empty()) {
    std::string names;
    for (const std::string& name : config.ignored_fields) {
      names += (names.empty() ? "" : ",") + name;
    }
    LOG_INFO("config fields without effect", kv("file", where), kv("fields", names));
  }
  return config;
}

}  // namespace rapt
