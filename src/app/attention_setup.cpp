#include "app/attention_setup.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "app/input_file.h"
#include "base/log.h"
#include "engine/attention_choice.h"
#include "models/model.h"

namespace rapt {

namespace {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<Calibration> read_calibration(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_input_file(path, "the calibration file"));
  return parse_calibration(text, path);
}

void log_messages(const AttentionPlan& plan) {
  for (const AttentionMessage& message : plan.messages) {
    if (message.level == MessageLevel::kWarning) {
      LOG_WARNING(message.text);
    } else {
      LOG_INFO(message.text);
    }
  }
  LOG_INFO(startup_line(plan));
  if (const std::string second = runner_up_line(plan); !second.empty()) {
    LOG_INFO(second);
  }
}

}  // namespace

std::string calibration_path() {
  if (const std::string cache = environment_variable("XDG_CACHE_HOME"); !cache.empty()) {
    return cache + "/rapt/attention.json";
  }
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.cache/rapt/attention.json";
}

std::optional<Calibration> load_calibration() {
  const std::string path = calibration_path();
  std::error_code status;
  if (path.empty() || !std::filesystem::exists(path, status)) {
    return std::nullopt;
  }
  Result<Calibration> calibration = read_calibration(path);
  if (!calibration) {
    LOG_WARNING(
        "attention measurements are left aside; `rapt attention bench` makes new ones",
        kv("why", calibration.error().message)
    );
    return std::nullopt;
  }
  return *std::move(calibration);
}

Result<AttentionPlan> choose_for_command(const LoadOptions& options, const std::string& path) {
  ASSIGN_OR_RETURN(const AttentionModel model, read_attention_needs(path, options.model));
  const std::optional<Calibration> calibration = load_calibration();
  ASSIGN_OR_RETURN(
      AttentionPlan plan,
      choose_attention(
          options.engine,
          {.model = model,
           .settings = options.attention,
           .calibration = calibration.has_value() ? &*calibration : nullptr}
      )
  );
  log_messages(plan);
  return plan;
}

}  // namespace rapt
