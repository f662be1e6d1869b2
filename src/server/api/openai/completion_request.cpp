#include <limits>

#include "server/api/openai/completion_request_internal.h"

namespace rapt::openai {

namespace {

constexpr int kDefaultMaxTokens = 16;

std::optional<std::vector<TokenId>> read_ids(const json::array& items) {
  std::vector<TokenId> ids;
  ids.reserve(items.size());
  for (const json::value& item : items) {
    const std::optional<std::int64_t> id = as_integer(item);
    if (!id || *id < 0 || *id > std::numeric_limits<TokenId>::max()) {
      return std::nullopt;
    }
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

void wrong_prompt(FieldReader& fields) {
  fields.fail(
      "prompt",
      "prompt must be a string, an array of strings, an array of token ids (integers from 0), or "
      "an array of such arrays.",
      "invalid_type"
  );
}

// A list is one prompt of ids when it begins with a number, else a list of prompts.
void read_prompt_list(FieldReader& fields, const json::array& items, std::vector<Prompt>& prompts) {
  if (items.empty()) {
    fields.fail("prompt", "prompt must not be empty.", "invalid_value");
    return;
  }
  if (items.front().is_number()) {
    std::optional<std::vector<TokenId>> ids = read_ids(items);
    if (!ids) {
      wrong_prompt(fields);
      return;
    }
    prompts.emplace_back(*std::move(ids));
    return;
  }
  if (items.size() > kMaxPrompts) {
    fields.fail(
        "prompt",
        "prompt must hold at most " + std::to_string(kMaxPrompts) + " prompts, but holds " +
            std::to_string(items.size()) + ".",
        "invalid_value"
    );
    return;
  }
  const bool of_strings = items.front().is_string();
  for (const json::value& item : items) {
    if (of_strings && item.is_string()) {
      prompts.emplace_back(std::string(item.get_string()));
      continue;
    }
    std::optional<std::vector<TokenId>> ids;
    if (!of_strings && item.is_array()) {
      ids = read_ids(item.get_array());
    }
    if (!ids) {
      wrong_prompt(fields);
      return;
    }
    prompts.emplace_back(*std::move(ids));
  }
}

void read_prompts(FieldReader& fields, std::vector<Prompt>& prompts) {
  const json::value* value = fields.find("prompt");
  if (value == nullptr) {
    fields.fail("prompt", "prompt is missing.", "invalid_value");
  } else if (value->is_string()) {
    prompts.emplace_back(std::string(value->get_string()));
  } else if (value->is_array()) {
    read_prompt_list(fields, value->get_array(), prompts);
  } else {
    wrong_prompt(fields);
  }
}

void read_logprobs(FieldReader& fields, CompletionRequest& request) {
  const std::optional<std::int64_t> num_logprobs = fields.integer("logprobs", 0, kMaxLogprobs);
  if (!num_logprobs) {
    return;
  }
  request.params.sampling.num_logprobs = static_cast<int>(*num_logprobs);
  if (request.echo) {
    fields.fail(
        "logprobs", "logprobs together with echo is not supported yet.", "unsupported_parameter"
    );
  }
}

void refuse_completion_fields(FieldReader& fields, int num_choices) {
  const std::optional<std::string> suffix = fields.text("suffix");
  if (suffix && !suffix->empty()) {
    fields.fail("suffix", "suffix is not supported.", "unsupported_parameter");
  }
  if (fields.integer("best_of", 1, kMaxChoices).value_or(1) > num_choices) {
    fields.fail("best_of", "best_of above n is not supported.", "unsupported_parameter");
  }
  fields.find("user");
}

}  // namespace

Result<CompletionRequest> parse_completion_request(
    const json::value& body, const SamplingParams& defaults
) {
  if (!body.is_object()) {
    return invalid_argument(
        "The request body must be a JSON object, but is " + std::string(json_kind_name(body)) + "."
    );
  }
  FieldReader fields(body.get_object());
  CompletionRequest request;
  read_prompts(fields, request.prompts);
  request.params = read_generation_params(fields, defaults);
  request.params.max_tokens = read_token_limit(fields, "max_tokens", 0).value_or(kDefaultMaxTokens);
  request.echo = fields.boolean("echo").value_or(false);
  read_logprobs(fields, request);
  refuse_completion_fields(fields, request.params.num_choices);
  refuse_unsupported_fields(fields);
  const std::size_t num_choices = request.prompts.size() * request.params.num_choices;
  if (num_choices > kMaxCallChoices) {
    fields.fail(
        "n",
        "n times the number of prompts must be at most " + std::to_string(kMaxCallChoices) +
            ", but is " + std::to_string(num_choices) + ".",
        "invalid_value"
    );
  }
  if (request.params.min_tokens > *request.params.max_tokens) {
    fields.fail("min_tokens", "min_tokens must not be above max_tokens.", "invalid_value");
  }
  if (!fields.ok()) {
    return fields.error();
  }
  request.ignored_fields = fields.unknown();
  return request;
}

}  // namespace rapt::openai
