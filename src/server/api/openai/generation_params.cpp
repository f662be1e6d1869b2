#include <algorithm>
#include <charconv>
#include <limits>

#include "server/api/openai/generation_params_internal.h"

namespace rapt::openai {

namespace {

constexpr int kMaxTokenLimit = 1 << 30;
constexpr std::int64_t kMaxTokenId = std::numeric_limits<TokenId>::max();

// Below the first a temperature is greedy; below the second it would overflow in float. Both
// thresholds are vLLM's.
constexpr double kGreedyTemperature = 1e-5;
constexpr double kMinTemperature = 0.01;

float read_float(
    FieldReader& fields, std::string_view name, double min, double max, float fallback
) {
  const std::optional<double> number = fields.number(name, min, max);
  return number ? static_cast<float>(*number) : fallback;
}

float read_temperature(FieldReader& fields, float fallback) {
  const double temperature = fields.number("temperature", 0.0, 100.0).value_or(fallback);
  if (temperature < kGreedyTemperature) {
    return 0.0F;
  }
  return static_cast<float>(std::max(temperature, kMinTemperature));
}

float read_top_p(FieldReader& fields, float fallback) {
  const float top_p = read_float(fields, "top_p", 0.0, 1.0, fallback);
  if (top_p <= 0.0F) {
    fields.fail("top_p", "top_p must be above 0 and at most 1.", "invalid_value");
  }
  return top_p;
}

std::vector<std::string> read_stop_strings(FieldReader& fields) {
  const json::value* value = fields.find("stop");
  std::vector<std::string> stops;
  if (value == nullptr) {
    return stops;
  }
  if (value->is_string()) {
    stops.emplace_back(value->get_string());
  } else if (value->is_array()) {
    for (const json::value& item : value->get_array()) {
      if (!item.is_string()) {
        fields.fail("stop", "stop must hold strings only.", "invalid_type");
        return {};
      }
      stops.emplace_back(item.get_string());
    }
  } else {
    fields.wrong_kind("stop", "a string or an array of strings", *value);
  }
  if (stops.size() > kMaxStopStrings) {
    fields.fail(
        "stop",
        "stop must hold at most " + std::to_string(kMaxStopStrings) + " strings, but holds " +
            std::to_string(stops.size()) + ".",
        "invalid_value"
    );
  }
  if (std::ranges::any_of(stops, &std::string::empty)) {
    fields.fail("stop", "stop must not hold an empty string.", "invalid_value");
  }
  return stops;
}

std::vector<TokenId> read_stop_token_ids(FieldReader& fields) {
  std::vector<TokenId> ids;
  const json::array* items = fields.array("stop_token_ids");
  if (items == nullptr) {
    return ids;
  }
  for (const json::value& item : *items) {
    const std::optional<std::int64_t> id = as_integer(item);
    if (!id || *id < 0 || *id > kMaxTokenId) {
      fields.fail(
          "stop_token_ids",
          "stop_token_ids must hold token ids, but holds " + shown(item) + ".",
          "invalid_value"
      );
      return {};
    }
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

std::vector<std::pair<TokenId, float>> read_logit_bias(FieldReader& fields) {
  std::vector<std::pair<TokenId, float>> biases;
  const json::object* object = fields.object("logit_bias");
  if (object == nullptr) {
    return biases;
  }
  for (const auto& member : *object) {
    const std::string_view key = member.key();
    TokenId id = 0;
    const auto [end, status] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (status != std::errc() || end != key.data() + key.size() || id < 0) {
      fields.fail(
          "logit_bias",
          "logit_bias must map token ids to numbers, but has the key " + shown(json::value(key)) +
              ".",
          "invalid_value"
      );
      return {};
    }
    const json::value& value = member.value();
    const double bias = value.is_number() ? value.to_number<double>() : 1000.0;
    if (bias < -100.0 || bias > 100.0) {
      fields.fail(
          "logit_bias",
          "logit_bias values must be numbers from -100 to 100, but " + std::string(key) + " has " +
              shown(value) + ".",
          "invalid_value"
      );
      return {};
    }
    biases.emplace_back(id, static_cast<float>(bias));
  }
  return biases;
}

void read_stream_options(FieldReader& fields, GenerationParams& params) {
  const json::object* object = fields.object("stream_options");
  if (object == nullptr) {
    return;
  }
  if (!params.stream) {
    fields.fail("stream_options", "stream_options needs stream to be true.", "invalid_value");
    return;
  }
  FieldReader options(*object, "stream_options.");
  params.include_usage = options.boolean("include_usage").value_or(false);
  params.continuous_usage_stats = options.boolean("continuous_usage_stats").value_or(false);
  if (!options.ok()) {
    fields.fail(options.error());
  }
}

// True for a value that asks for nothing, whatever the field means.
bool asks_for_nothing(const json::value& value) {
  switch (value.kind()) {
    case json::kind::bool_:
      return !value.get_bool();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::object:
      return value.get_object().empty();
    case json::kind::string:
      return value.get_string().empty();
    default:
      return false;
  }
}

void refuse(FieldReader& fields, std::string_view name) {
  fields.fail(name, std::string(name) + " is not supported yet.", "unsupported_parameter");
}

}  // namespace

std::optional<int> read_token_limit(FieldReader& fields, std::string_view name, int min) {
  const std::optional<std::int64_t> limit =
      fields.integer(name, min, std::numeric_limits<std::int64_t>::max());
  if (!limit) {
    return std::nullopt;
  }
  return static_cast<int>(std::min<std::int64_t>(*limit, kMaxTokenLimit));
}

GenerationParams read_generation_params(FieldReader& fields, const SamplingParams& defaults) {
  GenerationParams params;
  params.model = fields.text("model").value_or("");
  SamplingParams& sampling = params.sampling;
  sampling.temperature = read_temperature(fields, defaults.temperature);
  sampling.top_p = read_top_p(fields, defaults.top_p);
  const std::int64_t top_k = fields.integer("top_k", -1, std::numeric_limits<std::int64_t>::max())
                                 .value_or(defaults.top_k);
  sampling.top_k = static_cast<int>(std::clamp<std::int64_t>(top_k, 0, kMaxTokenLimit));
  sampling.min_p = read_float(fields, "min_p", 0.0, 1.0, defaults.min_p);
  sampling.presence_penalty = read_float(fields, "presence_penalty", -2.0, 2.0, 0.0F);
  sampling.frequency_penalty = read_float(fields, "frequency_penalty", -2.0, 2.0, 0.0F);
  sampling.repetition_penalty =
      read_float(fields, "repetition_penalty", 0.01, 100.0, defaults.repetition_penalty);
  sampling.logit_bias = read_logit_bias(fields);
  const std::optional<std::int64_t> seed = fields.integer(
      "seed", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()
  );
  if (seed) {
    params.seed = static_cast<std::uint64_t>(*seed);
  }
  params.min_tokens = read_token_limit(fields, "min_tokens", 0).value_or(0);
  params.num_choices = static_cast<int>(fields.integer("n", 1, kMaxChoices).value_or(1));
  params.ignore_eos = fields.boolean("ignore_eos").value_or(false);
  params.stop_strings = read_stop_strings(fields);
  params.stop_token_ids = read_stop_token_ids(fields);
  params.include_stop_string = fields.boolean("include_stop_str_in_output").value_or(false);
  params.skip_special_tokens = fields.boolean("skip_special_tokens").value_or(true);
  params.return_token_ids = fields.boolean("return_token_ids").value_or(false);
  params.stream = fields.boolean("stream").value_or(false);
  read_stream_options(fields, params);
  return params;
}

void refuse_unsupported_fields(FieldReader& fields) {
  // OpenAI's and vLLM's fields that constrain, score or reshape the output.
  constexpr std::string_view kUnsupported[] = {
      "structured_outputs",
      "guided_json",
      "guided_regex",
      "guided_choice",
      "guided_grammar",
      "allowed_token_ids",
      "bad_words",
      "use_beam_search",
      "prompt_logprobs",
      "logprob_token_ids",
      "prompt_embeds",
      "truncate_prompt_tokens",
      "chat_template",
      "continue_final_message",
      "audio",
      "web_search_options",
      "thinking_token_budget",
  };
  for (const std::string_view name : kUnsupported) {
    const json::value* value = fields.find(name);
    if (value != nullptr && !asks_for_nothing(*value)) {
      refuse(fields, name);
    }
  }
  const json::object* format = fields.object("response_format");
  if (format != nullptr) {
    FieldReader inner(*format, "response_format.");
    const std::optional<std::string> type = inner.text("type");
    if (!inner.ok()) {
      fields.fail(inner.error());
    } else if (!type) {
      inner.fail("type", "response_format.type is missing.", "invalid_value");
      fields.fail(inner.error());
    } else if (*type != "text") {
      fields.fail(
          "response_format",
          "response_format of type " + shown(json::value(*type)) +
              " is not supported yet: only \"text\" is.",
          "unsupported_parameter"
      );
    }
  }
}

}  // namespace rapt::openai
