#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "server/api/openai/answer_parts_internal.h"
#include "server/api/openai/chat_prompt_internal.h"
#include "server/api/openai/field_reader_internal.h"
#include "server/api/openai/routes_internal.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

// vLLM's two routes between text and token ids.

namespace rapt::openai {

namespace {

constexpr std::string_view kStringsField = "return_token_strs";
constexpr std::string_view kSpecialField = "add_special_tokens";

Result<json::object> parse_object(const HttpRequest& http) {
  ASSIGN_OR_RETURN(json::value body, parse_json(http.body, "The request body"));
  if (!body.is_object()) {
    return invalid_argument(
        "The request body must be a JSON object, but is " + std::string(json_kind_name(body)) + "."
    );
  }
  return std::move(body.get_object());
}

Result<void> check_tokenizer(const ApiContext& context, const std::string& param) {
  if (context.tokenizer == nullptr) {
    return invalid_argument("This model came without a tokenizer.", param);
  }
  return {};
}

// A conversation's ids: those of a chat request with these fields.
Result<std::vector<TokenId>> chat_ids(ApiContext& context, json::object body) {
  for (const std::string_view field : {kStringsField, kSpecialField}) {
    body.erase(field);
  }
  ASSIGN_OR_RETURN(ChatPrompt prompt, make_chat_prompt(context, std::move(body)));
  return std::move(prompt.ids);
}

// A text's ids: those of a text completion with this prompt.
Result<std::vector<TokenId>> text_ids(ApiContext& context, FieldReader& fields, bool adds_special) {
  const std::optional<std::string> model = fields.text("model");
  const std::optional<std::string> prompt = fields.text("prompt");
  if (!prompt) {
    fields.fail("prompt", "prompt is missing; messages would do as well.", "invalid_value");
  }
  if (!fields.ok()) {
    return fields.error();
  }
  RETURN_IF_ERROR(resolve_model(context, model.value_or("")));
  return adds_special ? context.tokenizer->encode_prompt(*prompt)
                      : context.tokenizer->encode_with_special(*prompt);
}

Result<json::value> tokenize(ApiContext& context, const HttpRequest& http) {
  ASSIGN_OR_RETURN(json::object body, parse_object(http));
  FieldReader fields(body);
  const bool is_chat = fields.find("messages") != nullptr;
  RETURN_IF_ERROR(check_tokenizer(context, is_chat ? "messages" : "prompt"));
  const bool with_strings = fields.boolean(kStringsField).value_or(false);
  // A conversation's template writes all of them.
  const bool adds_special = fields.boolean(kSpecialField).value_or(true);
  if (!fields.ok()) {
    return fields.error();
  }
  ASSIGN_OR_RETURN(
      const std::vector<TokenId> ids,
      is_chat ? chat_ids(context, body) : text_ids(context, fields, adds_special)
  );
  json::object answer;
  answer["count"] = ids.size();
  answer["max_model_len"] = context.engine.max_model_len();
  answer["tokens"] = token_id_array(ids);
  answer["token_strs"] = nullptr;
  if (with_strings) {
    json::array strings;
    for (const TokenId id : ids) {
      strings.emplace_back(token_text(id, context.tokenizer));
    }
    answer["token_strs"] = std::move(strings);
  }
  return json::value(std::move(answer));
}

Result<json::value> detokenize(ApiContext& context, const HttpRequest& http) {
  ASSIGN_OR_RETURN(const json::object body, parse_object(http));
  FieldReader fields(body);
  const std::optional<std::string> model = fields.text("model");
  const json::array* items = fields.array("tokens");
  if (items == nullptr) {
    fields.fail("tokens", "tokens is missing.", "invalid_value");
    return fields.error();
  }
  RETURN_IF_ERROR(check_tokenizer(context, "tokens"));
  RETURN_IF_ERROR(resolve_model(context, model.value_or("")));
  std::vector<TokenId> ids;
  for (const json::value& item : *items) {
    const std::optional<std::int64_t> id = as_integer(item);
    if (!id || *id < 0 || *id >= context.engine.vocab_size()) {
      fields.fail(
          "tokens",
          "tokens must hold token ids from 0 to " +
              std::to_string(context.engine.vocab_size() - 1) + ", but holds " + shown(item) + ".",
          "invalid_value"
      );
      return fields.error();
    }
    ids.push_back(static_cast<TokenId>(*id));
  }
  json::object answer;
  answer["prompt"] = text_of_tokens(*context.tokenizer, ids);
  return json::value(std::move(answer));
}

}  // namespace

void handle_tokenize(ApiContext& context, const HttpRequest& request, Responder& responder) {
  send_json(context, responder, tokenize(context, request));
}

void handle_detokenize(ApiContext& context, const HttpRequest& request, Responder& responder) {
  send_json(context, responder, detokenize(context, request));
}

}  // namespace rapt::openai
