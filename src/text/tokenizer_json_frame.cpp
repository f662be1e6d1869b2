#include <tuple>
#include <utility>

#include "text/tokenizer_json_internal.h"

namespace rapt {

namespace {

// "<s>", or an object whose content is that.
std::string_view token_name(const json::object& config, std::string_view key) {
  const json::object* object = find_object(config, key);
  return object != nullptr ? string_or_empty(*object, "content") : string_or_empty(config, key);
}

// The ids that a template's special token stands for.
Result<void> append_special(
    const TokenizerJson& file,
    const json::object& processor,
    std::string_view name,
    std::vector<TokenId>& ids
) {
  const json::object* tokens = find_object(processor, "special_tokens");
  const json::object* token = tokens != nullptr ? find_object(*tokens, name) : nullptr;
  const json::array* list = token != nullptr ? find_array(*token, "ids") : nullptr;
  if (list == nullptr) {
    return file.error("post_processor does not say which ids '", name, "' stands for");
  }
  for (const json::value& item : *list) {
    const auto id = token_id(&item);
    if (!id) {
      return file.error("post_processor gives '", name, "' something else than ids");
    }
    ids.push_back(*id);
  }
  return {};
}

Result<PromptFrame> read_template(const TokenizerJson& file, const json::object& processor) {
  PromptFrame frame;
  const json::array* items = find_array(processor, "single");
  if (items == nullptr) {
    return file.error("post_processor.single must be an array");
  }
  bool is_behind_text = false;
  for (const json::value& item : *items) {
    const json::object* object = item.if_object();
    if (object != nullptr && object->contains("Sequence")) {
      is_behind_text = true;
      continue;
    }
    const json::object* special =
        object != nullptr ? find_object(*object, "SpecialToken") : nullptr;
    if (special == nullptr) {
      return file.error("post_processor.single holds something else than texts and tokens");
    }
    RETURN_IF_ERROR(append_special(
        file, processor, string_or_empty(*special, "id"), is_behind_text ? frame.end : frame.begin
    ));
  }
  return frame;
}

Result<PromptFrame> read_post_processor(const TokenizerJson& file) {
  ASSIGN_OR_RETURN(const auto steps, file.read_steps("post_processor", "processors"));
  for (const json::object* step : steps) {
    // The others only move offsets, or belong to models that do not generate.
    if (string_or_empty(*step, "type") == "TemplateProcessing") {
      return read_template(file, *step);
    }
  }
  return PromptFrame{};
}

}  // namespace

Result<PromptFrame> read_prompt_frame(const TokenizerJson& file, const json::object* config) {
  ASSIGN_OR_RETURN(PromptFrame frame, read_post_processor(file));
  if (config == nullptr) {
    return frame;
  }
  for (const auto& [key, name_key, ids] :
       {std::tuple("add_bos_token", "bos_token", &frame.begin),
        std::tuple("add_eos_token", "eos_token", &frame.end)}) {
    const json::value* adds = config->if_contains(key);
    if (adds == nullptr || !adds->is_bool()) {
      continue;
    }
    ids->clear();
    const std::string_view name = token_name(*config, name_key);
    for (const AddedToken& token : file.added_tokens) {
      if (adds->get_bool() && token.name == name) {
        ids->push_back(token.id);
      }
    }
  }
  return frame;
}

}  // namespace rapt
