#include <array>
#include <string_view>
#include <utility>

#include "checkpoint/checkpoint_dir.h"
#include "models/gpt_oss/gpt_oss.h"
#include "models/model.h"

namespace rapt {

namespace {

struct ArchitectureEntry {
  std::string_view name;  // as config.json's "architectures" spells it
  Result<std::unique_ptr<Model>> (*load)(CheckpointDir checkpoint);
};

constexpr std::array kArchitectures = {
    ArchitectureEntry{"GptOssForCausalLM", load_gpt_oss},
};

// OpenAI's own layout names no architecture; only gpt-oss comes in it.
Result<std::string> architecture_of(const CheckpointDir& checkpoint) {
  if (checkpoint.layout() == CheckpointDir::Layout::kOriginal) {
    return std::string(kArchitectures[0].name);
  }
  ASSIGN_OR_RETURN(const json::value config, checkpoint.read_config());
  const json::object* object = config.if_object();
  const json::value* names = object == nullptr ? nullptr : object->if_contains("architectures");
  const json::array* list = names == nullptr ? nullptr : names->if_array();
  if (list == nullptr || list->size() != 1 || !list->front().is_string()) {
    return bad_file(
        checkpoint.path() +
        "/config.json: \"architectures\" must be a list of one name, such as "
        "[\"GptOssForCausalLM\"]"
    );
  }
  return std::string(std::string_view(list->front().get_string()));
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const std::string& folder) {
  ASSIGN_OR_RETURN(CheckpointDir checkpoint, CheckpointDir::open(folder));
  ASSIGN_OR_RETURN(const std::string architecture, architecture_of(checkpoint));
  std::string known;
  for (const ArchitectureEntry& entry : kArchitectures) {
    if (entry.name == architecture) {
      return entry.load(std::move(checkpoint));
    }
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return bad_file(
      folder + "/config.json names the architecture \"" + architecture +
      "\", which Rapt does not know; it knows " + known
  );
}

}  // namespace rapt
