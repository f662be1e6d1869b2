#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/text_file.h"
#include "models/gpt_oss/gpt_oss.h"
#include "models/llama/llama.h"
#include "models/model.h"
#include "quant/weight_format.h"

namespace rapt {

namespace {

struct ArchitectureEntry {
  std::string_view name;                       // as config.json's "architectures" spells it
  std::array<std::string_view, 2> gguf_names;  // as "general.architecture" spells it; "" for none
  Result<std::unique_ptr<Model>> (*load)(CheckpointDir checkpoint);
  // What attention needs, from a config.json (`what` names it in errors) or a GGUF file.
  Result<AttentionModel> (*attention_of_json)(const json::value& config, std::string_view what);
  Result<AttentionModel> (*attention_of_gguf)(const CheckpointDir& checkpoint);
};

constexpr std::array kArchitectures = {
    ArchitectureEntry{
        "GptOssForCausalLM",
        {"gpt-oss", "gptoss"},
        load_gpt_oss,
        gpt_oss_attention_of_json,
        gpt_oss_attention_of_gguf},
    ArchitectureEntry{
        "LlamaForCausalLM",
        {"llama", ""},
        load_llama,
        llama_attention_of_json,
        llama_attention_of_gguf},
    ArchitectureEntry{
        "MistralForCausalLM",
        {"", ""},
        load_llama,
        llama_attention_of_json,
        llama_attention_of_gguf},
};

// Which model a checkpoint is, and the file that says so.
struct NamedArchitecture {
  std::string name;
  std::string named_in;
};

Result<NamedArchitecture> architecture_of(const CheckpointDir& checkpoint) {
  // OpenAI's own layout names no architecture; only gpt-oss comes in it.
  if (checkpoint.layout() == CheckpointDir::Layout::kOriginal) {
    return NamedArchitecture{std::string(kArchitectures[0].name), checkpoint.path()};
  }
  if (checkpoint.gguf() != nullptr) {
    ASSIGN_OR_RETURN(const std::string_view name, checkpoint.gguf()->text("general.architecture"));
    return NamedArchitecture{std::string(name), checkpoint.gguf()->what()};
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
  return NamedArchitecture{std::string(std::string_view(list->front().get_string())), file};
}

bool is_called(const ArchitectureEntry& entry, const std::string& name, bool is_gguf) {
  if (!is_gguf) {
    return entry.name == name;
  }
  return !name.empty() && std::find(entry.gguf_names.begin(), entry.gguf_names.end(), name) !=
                              entry.gguf_names.end();
}

// The entry of a checkpoint's architecture, or an error that says which there are.
Result<const ArchitectureEntry*> find_entry(const CheckpointDir& checkpoint) {
  ASSIGN_OR_RETURN(const NamedArchitecture architecture, architecture_of(checkpoint));
  const bool is_gguf = checkpoint.gguf() != nullptr;
  std::string known;
  for (const ArchitectureEntry& entry : kArchitectures) {
    if (is_called(entry, architecture.name, is_gguf)) {
      return &entry;
    }
    const std::string_view name = is_gguf ? entry.gguf_names[0] : entry.name;
    if (!name.empty()) {
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
  }
  return bad_file(
      architecture.named_in + " names the architecture \"" + architecture.name +
      "\", which Rapt does not know; it knows " + known
  );
}

// The first entry that a config.json names; gpt-oss for one that names none (OpenAI's own layout).
// Null: another architecture.
const ArchitectureEntry* find_entry(const json::value& config) {
  const json::object* fields = config.if_object();
  const json::value* names = fields == nullptr ? nullptr : fields->if_contains("architectures");
  const json::array* list = names == nullptr ? nullptr : names->if_array();
  if (list == nullptr) {
    return &kArchitectures[0];
  }
  for (const ArchitectureEntry& entry : kArchitectures) {
    if (std::find(list->begin(), list->end(), json::value(entry.name)) != list->end()) {
      return &entry;
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
