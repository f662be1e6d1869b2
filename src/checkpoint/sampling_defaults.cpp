#include "checkpoint/sampling_defaults.h"

#include <algorithm>
#include <limits>

#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/config_fields.h"
#include "checkpoint/text_file.h"

namespace rapt {

namespace {

// What the two kinds of files call the same thing.
struct Names {
  std::string_view temperature;
  std::string_view top_p;
  std::string_view top_k;
  std::string_view min_p;
  std::string_view repetition_penalty;
};

constexpr Names kHuggingFaceNames = {
    "temperature", "top_p", "top_k", "min_p", "repetition_penalty"};
constexpr std::string_view kGgufPrefix = "general.sampling.";
constexpr Names kGgufNames = {
    "general.sampling.temp",
    "general.sampling.top_p",
    "general.sampling.top_k",
    "general.sampling.min_p",
    "general.sampling.penalty_repeat"};

Result<std::optional<float>> read_number(
    ConfigFields& fields, std::string_view name, ConfigFields::NumberRange range
) {
  if (fields.find(name) == nullptr) {
    return std::optional<float>();
  }
  ASSIGN_OR_RETURN(const double number, fields.number({name}, range));
  return std::optional<float>(static_cast<float>(number));
}

Result<SamplingDefaults> read(ConfigFields fields, const Names& names) {
  // The bounds of a request's own fields. A top_p of 0 would keep nothing.
  constexpr ConfigFields::NumberRange kTemperatures = {0.0, 100.0};
  constexpr ConfigFields::NumberRange kTopPs = {std::numeric_limits<float>::min(), 1.0};
  constexpr ConfigFields::NumberRange kMinPs = {0.0, 1.0};
  constexpr ConfigFields::NumberRange kPenalties = {0.01, 100.0};
  SamplingDefaults made;
  ASSIGN_OR_RETURN(made.temperature, read_number(fields, names.temperature, kTemperatures));
  ASSIGN_OR_RETURN(made.top_p, read_number(fields, names.top_p, kTopPs));
  ASSIGN_OR_RETURN(made.min_p, read_number(fields, names.min_p, kMinPs));
  ASSIGN_OR_RETURN(
      made.repetition_penalty, read_number(fields, names.repetition_penalty, kPenalties)
  );
  if (fields.find(names.top_k) != nullptr) {
    constexpr ConfigFields::IntRange kTopKs = {-1, std::numeric_limits<int>::max()};
    ASSIGN_OR_RETURN(const std::int64_t top_k, fields.integer({names.top_k}, kTopKs));
    made.top_k = static_cast<int>(std::max<std::int64_t>(top_k, 0));  // -1 keeps all, as 0 does
  }
  return made;
}

}  // namespace

Result<SamplingDefaults> read_sampling_defaults(const CheckpointDir& checkpoint) {
  if (const GgufMetadata* gguf = checkpoint.gguf()) {
    const json::value keys = gguf->to_json(kGgufPrefix, 0);
    ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(keys, gguf->what()));
    return read(std::move(fields), kGgufNames);
  }
  const auto path = checkpoint.find_companion("generation_config.json");
  if (!path) {
    return SamplingDefaults();
  }
  ASSIGN_OR_RETURN(const json::value config, read_json_file(*path));
  ASSIGN_OR_RETURN(ConfigFields fields, ConfigFields::of(config, *path));
  return read(std::move(fields), kHuggingFaceNames);
}

}  // namespace rapt
