#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/text_file.h"
#include "models/architecture_internal.h"
#include "models/model.h"
#include "quant/weight_format.h"

namespace rapt {

namespace {

// Every architecture, in the order of the list of models.
std::vector<const ArchitectureEntry*> all_entries() {
  std::vector<const ArchitectureEntry*> entries;
  for (const std::span<const ArchitectureEntry> model : architectures_of_models()) {
    for (const ArchitectureEntry& entry : model) {
      entries.push_back(&entry);
    }
  }
  return entries;
}

// Splits "gpt-oss|gptoss".
std::vector<std::string_view> gguf_names_of(const ArchitectureEntry& entry) {
  std::vector<std::string_view> names;
  for (std::string_view rest = entry.gguf_names; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

// OpenAI's own layout names no architecture.
const ArchitectureEntry* find_original() {
  for (const ArchitectureEntry* entry : all_entries()) {
    if (entry->is_original_layout) {
      return entry;
    }
  }
  return nullptr;
}

// `is_gguf` says whose names `name` is one of.
Result<const ArchitectureEntry*> find_named(
    std::string_view name, bool is_gguf, const std::string& named_in
) {
  std::string known;
  for (const ArchitectureEntry* entry : all_entries()) {
    const std::vector<std::string_view> names =
        is_gguf ? gguf_names_of(*entry) : std::vector<std::string_view>{entry->name};
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return entry;
    }
    if (!names.empty()) {
      known += (known.empty() ? "" : ", ") + std::string(names.front());
    }
  }
  return bad_file(
      named_in + " names the architecture \"" + std::string(name) +
      "\", which Rapt does not know; it knows " + known
  );
}

// The entry of a checkpoint's architecture, or an error that says which there are.
Result<const ArchitectureEntry*> find_entry(const CheckpointDir& checkpoint) {
  if (checkpoint.layout() == CheckpointDir::Layout::kOriginal) {
    if (const ArchitectureEntry* entry = find_original()) {
      return entry;
    }
    return bad_file(checkpoint.path() + " is in a layout that no model of this build comes in");
  }
  if (checkpoint.gguf() != nullptr) {
    ASSIGN_OR_RETURN(const std::string_view name, checkpoint.gguf()->text("general.architecture"));
    return find_named(name, true, checkpoint.gguf()->what());
  }
  const std::string file = checkpoint.path() + "/config.json";
  ASSIGN_OR_RETURN(const json::value config, checkpoint.read_config());
  const json::object* object = config.if_object();
  const json::value* names = object == nullptr ? nullptr : object->if_contains("architectures");
  const json::array* list = names == nullptr ? nullptr : names->if_array();
  if (list == nullptr || list->size() != 1 || !list->front().is_string()) {
    return bad_file(
        file + ": \"architectures\" must be a list of one name, such as [\"GptOssForCausalLM\"]"
    );
  }
  return find_named(std::string_view(list->front().get_string()), false, file);
}

// The first entry that a config.json names; for one that names none, that of OpenAI's own layout.
// Null: another architecture.
const ArchitectureEntry* find_entry(const json::value& config) {
  const json::object* fields = config.if_object();
  const json::value* names = fields == nullptr ? nullptr : fields->if_contains("architectures");
  const json::array* list = names == nullptr ? nullptr : names->if_array();
  if (list == nullptr) {
    return find_original();
  }
  for (const ArchitectureEntry* entry : all_entries()) {
    if (std::find(list->begin(), list->end(), json::value(entry->name)) != list->end()) {
      return entry;
    }
  }
  return nullptr;
}

// "gpt-oss-20b" for "openai/gpt-oss-20b" and for "/models/gpt-oss-20b/".
std::string last_part(std::string_view name) {
  while (name.size() > 1 && name.ends_with('/')) {
    name.remove_suffix(1);
  }
  return std::string(name.substr(name.rfind('/') + 1));
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const std::string& path) {
  ASSIGN_OR_RETURN(CheckpointDir checkpoint, CheckpointDir::open(path, known_block_types()));
  ASSIGN_OR_RETURN(const ArchitectureEntry* entry, find_entry(checkpoint));
  return entry->load(std::move(checkpoint));
}

Result<AttentionModel> read_attention_needs(const std::string& path, const std::string& name) {
  // Where checkpoint/checkpoint_dir.h looks for weights, too.
  for (const char* file : {"/config.json", "/original/config.json"}) {
    const std::string config_path = path + file;
    std::error_code status;
    if (!std::filesystem::is_regular_file(config_path, status)) {
      continue;
    }
    ASSIGN_OR_RETURN(const json::value config, read_json_file(config_path));
    const ArchitectureEntry* entry = find_entry(config);
    if (entry == nullptr) {
      return read_attention_model(config, name);
    }
    ASSIGN_OR_RETURN(AttentionModel needs, entry->attention_of_json(config, config_path));
    needs.name = last_part(name);
    return needs;
  }
  ASSIGN_OR_RETURN(const CheckpointDir checkpoint, CheckpointDir::open(path, known_block_types()));
  if (checkpoint.gguf() == nullptr) {
    return bad_file(path + " has no config.json, which says what the model's attention needs");
  }
  ASSIGN_OR_RETURN(const ArchitectureEntry* entry, find_entry(checkpoint));
  ASSIGN_OR_RETURN(AttentionModel needs, entry->attention_of_gguf(checkpoint));
  needs.name = last_part(name);
  return needs;
}

}  // namespace rapt
