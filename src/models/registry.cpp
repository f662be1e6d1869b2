#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/checkpoint_dir.h"
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
};

constexpr std::array kArchitectures = {
    ArchitectureEntry{"GptOssForCausalLM", {"gpt-oss", "gptoss"}, load_gpt_oss},
    ArchitectureEntry{"LlamaForCausalLM", {"llama", ""}, load_llama},
    ArchitectureEntry{"MistralForCausalLM", {"", ""}, load_llama},
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

}  // namespace

Result<std::unique_ptr<Model>> load_model(const std::string& path) {
  ASSIGN_OR_RETURN(CheckpointDir checkpoint, CheckpointDir::open(path, known_block_types()));
  ASSIGN_OR_RETURN(const NamedArchitecture architecture, architecture_of(checkpoint));
  const bool is_gguf = checkpoint.gguf() != nullptr;
  std::string known;
  for (const ArchitectureEntry& entry : kArchitectures) {
    if (is_called(entry, architecture.name, is_gguf)) {
      return entry.load(std::move(checkpoint));
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

}  // namespace rapt
