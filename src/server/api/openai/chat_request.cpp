#include <algorithm>

#include "server/api/openai/chat_request_internal.h"
#include "server/api/openai/tool_fields_internal.h"

namespace rapt::openai {

namespace {

// The harmony format knows three efforts; OpenAI's two below them become the lowest.
std::optional<std::string> read_effort(FieldReader& fields) {
  const std::optional<std::string> effort = fields.text("reasoning_effort");
  if (!effort) {
    return std::nullopt;
  }
  if (*effort == "none" || *effort == "minimal") {
    return "low";
  }
  if (*effort == "low" || *effort == "medium" || *effort == "high") {
    return effort;
  }
  fields.fail(
      "reasoning_effort",
      fields.path_of("reasoning_effort") + " must be none, minimal, low, medium or high, but is " +
          shown(json::value(*effort)) + ".",
      "invalid_value"
  );
  return std::nullopt;
}

bool is_iso_date(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  return text.size() == kForm.size() && std::ranges::equal(text, kForm, [](char c, char form) {
           return form == '0' ? c >= '0' && c <= '9' : c == form;
         });
}

void read_template_kwargs(FieldReader& fields, ChatOptions& options) {
  const json::object* object = fields.object("chat_template_kwargs");
  if (object == nullptr) {
    return;
  }
  options.template_kwargs = *object;
  FieldReader kwargs(*object, "chat_template_kwargs.");
  if (const std::optional<std::string> effort = read_effort(kwargs)) {
    options.reasoning_effort = *effort;
  }
  options.model_identity = kwargs.text("model_identity");
  options.conversation_date = kwargs.text("conversation_date");
  if (options.conversation_date && !is_iso_date(*options.conversation_date)) {
    kwargs.fail(
        "conversation_date",
        "chat_template_kwargs.conversation_date must look like 2025-12-31, but is " +
            shown(json::value(*options.conversation_date)) + ".",
        "invalid_value"
    );
  }
  if (!kwargs.ok()) {
    fields.fail(kwargs.error());
  }
}

// Templates know the effort by its name, or only a switch for thinking. What the client itself told
// the template wins.
void tell_template_of_effort(const json::value& effort, ChatOptions& options) {
  options.template_kwargs.emplace("reasoning_effort", effort);
  if (effort.get_string() == "none") {
    options.template_kwargs.emplace("enable_thinking", false);
  }
}

void read_messages(FieldReader& fields, std::vector<ChatMessage>& messages) {
  const json::array* items = fields.array("messages");
  if (items == nullptr) {
    fields.fail("messages", "messages is missing.", "invalid_value");
    return;
  }
  if (items->empty()) {
    fields.fail("messages", "messages must hold at least one message.", "invalid_value");
  }
  for (std::size_t message_idx = 0; message_idx < items->size(); ++message_idx) {
    Result<ChatMessage> message =
        parse_chat_message((*items)[message_idx], "messages[" + std::to_string(message_idx) + "].");
    if (!message) {
      fields.fail(std::move(message).error());
      return;
    }
    messages.push_back(std::move(message).value());
  }
}

void read_logprobs(FieldReader& fields, SamplingParams& sampling) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const std::optional<std::int64_t> num_top = fields.integer("top_logprobs", 0, kMaxLogprobs);
  if (num_top.value_or(0) > 0 && !wanted) {
    fields.fail("top_logprobs", "top_logprobs needs logprobs to be true.", "invalid_value");
  }
  if (wanted) {
    sampling.num_logprobs = static_cast<int>(num_top.value_or(0));
  }
}

void refuse_other_modalities(FieldReader& fields) {
  const json::array* modalities = fields.array("modalities");
  if (modalities == nullptr) {
    return;
  }
  for (const json::value& item : *modalities) {
    if (!item.is_string() || item.get_string() != "text") {
      fields.fail(
          "modalities",
          "modalities may hold \"text\" only, but holds " + shown(item) + ".",
          "invalid_value"
      );
    }
  }
}

void refuse_template_switches(FieldReader& fields) {
  if (fields.boolean("echo").value_or(false)) {
    fields.fail("echo", "echo is not supported for chat.", "unsupported_parameter");
  }
  if (!fields.boolean("add_generation_prompt").value_or(true)) {
    fields.fail(
        "add_generation_prompt",
        "add_generation_prompt must be true: answers always start a new turn.",
        "unsupported_parameter"
    );
  }
}

// Known fields that change nothing here; they do not count as ignored.
void accept_harmless_fields(FieldReader& fields) {
  constexpr std::string_view kHarmless[] = {
      "user",
      "metadata",
      "store",
      "service_tier",
      "safety_identifier",
      "prompt_cache_key",
      "prompt_cache_retention",
      "verbosity",
  };
  for (const std::string_view name : kHarmless) {
    fields.find(name);
  }
}

}  // namespace

Result<ChatCompletionRequest> parse_chat_request(
    const json::value& body, const SamplingParams& defaults
) {
  if (!body.is_object()) {
    return invalid_argument(
        "The request body must be a JSON object, but is " + std::string(json_kind_name(body)) + "."
    );
  }
  FieldReader fields(body.get_object());
  ChatCompletionRequest request;
  read_messages(fields, request.messages);
  request.params = read_generation_params(fields, defaults);
  // The new name wins over the old one.
  request.params.max_tokens = read_token_limit(fields, "max_completion_tokens", 1);
  const std::optional<int> old_limit = read_token_limit(fields, "max_tokens", 1);
  if (!request.params.max_tokens) {
    request.params.max_tokens = old_limit;
  }
  read_logprobs(fields, request.params.sampling);
  read_template_kwargs(fields, request.options);
  if (const std::optional<std::string> effort = read_effort(fields)) {
    request.options.reasoning_effort = *effort;
    tell_template_of_effort(*fields.find("reasoning_effort"), request.options);
  }
  request.include_reasoning = fields.boolean("include_reasoning").value_or(true);
  read_tool_fields(fields, request);
  if (fields.array("documents") != nullptr) {
    request.options.documents = *fields.find("documents");
  }
  refuse_other_modalities(fields);
  refuse_template_switches(fields);
  refuse_unsupported_fields(fields);
  accept_harmless_fields(fields);
  if (request.params.min_tokens > request.params.max_tokens.value_or(request.params.min_tokens)) {
    fields.fail("min_tokens", "min_tokens must not be above the token limit.", "invalid_value");
  }
  if (!fields.ok()) {
    return fields.error();
  }
  for (std::string& name : fields.unknown()) {
    request.ignored_fields.push_back(std::move(name));
  }
  return request;
}

}  // namespace rapt::openai
