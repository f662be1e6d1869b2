#include "app/loaded_model.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>

#include "app/attention_setup.h"
#include "app/chat_template_source.h"
#include "app/tokenizer_source.h"
#include "base/log.h"
#include "base/numa.h"
#include "checkpoint/hf_cache.h"

namespace rapt {

namespace {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Null when none is known for the model, or when it brings no template where it should.
Result<std::unique_ptr<ChatFormat>> load_chat_format(
    const LoadedModel& model, const std::string& chat_template
) {
  const std::string name = chat_template.empty() ? model.info.chat_format : "jinja";
  if (name != "jinja") {
    if (name.empty()) {
      LOG_INFO("no chat format is known for this model: it completes texts");
      return std::unique_ptr<ChatFormat>();
    }
    return make_chat_format(name, *model.tokenizer);
  }
  ASSIGN_OR_RETURN(
      const ChatTemplates templates,
      load_chat_templates(model.path, *model.tokenizer, chat_template)
  );
  if (templates.empty()) {
    LOG_INFO("the model brings no chat template: it completes texts");
    return std::unique_ptr<ChatFormat>();
  }
  return make_chat_format(name, *model.tokenizer, templates);
}

void add_missing(const std::vector<TokenId>& more, std::vector<TokenId>& ids) {
  for (const TokenId id : more) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      ids.push_back(id);
    }
  }
}

}  // namespace

std::vector<TokenId> LoadedModel::eos_token_ids() const {
  std::vector<TokenId> ids = info.eos_token_ids;
  if (chat_format) {
    add_missing(chat_format->stop_token_ids(), ids);
  }
  return ids;
}

SamplingParams LoadedModel::sampling(const SamplingOptions& options) const {
  SamplingParams made;
  const auto first_of = [](auto& value, const auto& option, const auto& fallback) {
    value = option ? *option : fallback.value_or(value);
  };
  first_of(made.temperature, options.temperature, sampling_defaults.temperature);
  first_of(made.top_p, options.top_p, sampling_defaults.top_p);
  first_of(made.top_k, options.top_k, sampling_defaults.top_k);
  first_of(made.min_p, options.min_p, sampling_defaults.min_p);
  made.repetition_penalty = sampling_defaults.repetition_penalty.value_or(made.repetition_penalty);
  return made;
}

Result<std::string> find_model_folder(const std::string& model, bool needs_weights) {
  return resolve_model_path(
      model,
      HfCacheEnv{
          .hf_hub_cache = environment_variable("HF_HUB_CACHE"),
          .hf_home = environment_variable("HF_HOME"),
          .xdg_cache_home = environment_variable("XDG_CACHE_HOME"),
          .home = environment_variable("HOME"),
      },
      needs_weights
  );
}

Result<LoadedModel> load_for_command(const LoadOptions& options) {
  set_log_level(options.log_level);
  LoadedModel loaded;
  ASSIGN_OR_RETURN(loaded.path, find_model_folder(options.model, false));
  EngineConfig config = options.engine;
  ASSIGN_OR_RETURN(config.attention, choose_for_command(options, loaded.path));
  ASSIGN_OR_RETURN(loaded.path, find_model_folder(options.model));  // with weights, from here on
  LOG_INFO("loading", kv("model", loaded.path));
  if (const int num_nodes = interleave_memory(); num_nodes > 1) {
    LOG_INFO("memory is spread evenly over the machine's nodes", kv("nodes", num_nodes));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Model> model, load_model(loaded.path));
  loaded.info = model->info();
  loaded.linears = model->linears();
  ASSIGN_OR_RETURN(loaded.sampling_defaults, read_sampling_defaults(model->checkpoint()));
  LOG_INFO(
      "model mapped",
      kv("architecture", loaded.info.architecture),
      kv("parameters", loaded.info.num_parameters),
      kv("weights", loaded.info.weight_format),
      kv("bytes", loaded.info.weight_bytes)
  );
  ASSIGN_OR_RETURN(loaded.tokenizer, load_model_tokenizer(loaded.path, loaded.info));
  if (loaded.tokenizer) {
    ASSIGN_OR_RETURN(loaded.chat_format, load_chat_format(loaded, options.chat_template));
    ASSIGN_OR_RETURN(
        const std::vector<TokenId> ends,
        find_unsaid_ends(loaded.path, loaded.info, *loaded.tokenizer)
    );
    add_missing(ends, loaded.info.eos_token_ids);
  } else {
    LOG_INFO("no tokenizer: only token ids are understood");
  }
  ASSIGN_OR_RETURN(loaded.engine, Engine::create(config, std::move(model)));
  loaded.attention = *std::move(config.attention);
  return loaded;
}

std::string resolve_date(const std::string& conversation_date) {
  if (conversation_date != "today") {
    return conversation_date;
  }
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &local);
  return text;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace rapt
