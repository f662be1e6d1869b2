#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/attention_setup.h"
#include "app/commands.h"
#include "app/loaded_model.h"
#include "app/selftest.h"
#include "attention/select/docs_table.h"
#include "attention/select/explain.h"
#include "attention/select/selector.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/attention_choice.h"

namespace rapt {

namespace {

// A folder wins over a preset of the same name, and a preset over the Hugging Face cache.
Result<AttentionModel> find_needs(const std::string& model) {
  std::error_code status;
  if (!std::filesystem::exists(model, status)) {
    if (std::optional<AttentionModel> preset = find_attention_preset(model); preset.has_value()) {
      return *std::move(preset);
    }
  }
  ASSIGN_OR_RETURN(const std::string path, find_model_folder(model, false));
  return read_attention_needs(path, model);
}

Result<void> list(const AttentionOptions& options) {
  SelectRequest request;
  ASSIGN_OR_RETURN(request.model, find_needs(options.model));
  ASSIGN_OR_RETURN(const HostFacts host, host_facts(options.engine));
  ASSIGN_OR_RETURN(request.device, find_attention_device(options.device, host));
  const std::optional<Calibration> calibration = load_calibration();
  request.run = attention_run_options(options.engine);
  request.settings = options.settings;
  request.calibration = calibration.has_value() ? &*calibration : nullptr;
  ASSIGN_OR_RETURN(const AttentionPlan plan, select_attention(request));
  if (options.json) {
    std::printf("%s\n", to_json_text(plan_json(plan)).c_str());
  } else {
    std::fputs(plan_text(plan).c_str(), stdout);
  }
  return {};
}

Result<void> explain(const AttentionOptions& options) {
  ExplainRequest request;
  request.name = options.name;
  request.target = options.release;
  ASSIGN_OR_RETURN(request.host, host_facts(options.engine));
  ASSIGN_OR_RETURN(request.model, find_needs(options.model));
  if (!options.device.empty()) {
    ASSIGN_OR_RETURN(request.device, find_attention_device(options.device, request.host));
  }
  ASSIGN_OR_RETURN(const Explanation explanation, explain_attention_name(request));
  if (options.json) {
    std::printf("%s\n", to_json_text(explanation_json(explanation)).c_str());
  } else {
    std::fputs(explanation_text(explanation).c_str(), stdout);
  }
  return {};
}

// As docs/ATTENTION.md holds them, marker comments included (tools/make_attention_docs).
void print_docs() {
  const std::pair<const char*, std::string> tables[] = {
      {"backends", backends_markdown()},
      {"aliases", aliases_markdown()},
      {"options", options_markdown()},
  };
  for (const auto& [name, text] : tables) {
    std::printf("<!-- %s: begin -->\n%s<!-- %s: end -->\n", name, text.c_str(), name);
  }
}

// The exit code.
Result<int> act(const AttentionOptions& options) {
  switch (options.action) {
    case AttentionOptions::Action::kList:
      RETURN_IF_ERROR(list(options));
      return 0;
    case AttentionOptions::Action::kExplain:
      RETURN_IF_ERROR(explain(options));
      return 0;
    case AttentionOptions::Action::kDocs:
      print_docs();
      return 0;
    case AttentionOptions::Action::kBench: {
      ASSIGN_OR_RETURN(const AttentionModel model, find_needs(options.model));
      RETURN_IF_ERROR(bench_attention(options, model));
      return 0;
    }
    case AttentionOptions::Action::kSelftest:
      return run_selftest(options.selftest, true) ? 0 : 1;
  }
  return internal_error("an action without a function");
}

}  // namespace

int attention_main(const AttentionOptions& options) {
  set_log_level(LogLevel::kWarning);
  const Result<int> result = act(options);
  return result ? *result : report_error(result.error());
}

}  // namespace rapt
