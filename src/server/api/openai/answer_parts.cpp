#include <algorithm>

#include "server/api/openai/answer_parts_internal.h"
#include "server/errors_internal.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace rapt::openai {

json::object answer_head(const AnswerOptions& options, std::string_view object) {
  json::object head;
  head["id"] = options.id;
  head["object"] = object;
  head["created"] = options.created;
  head["model"] = options.model;
  head["system_fingerprint"] = options.fingerprint;
  return head;
}

json::object usage_object(const CallUsage& usage) {
  json::object object;
  object["prompt_tokens"] = usage.num_prompt_tokens;
  object["completion_tokens"] = usage.num_completion_tokens;
  object["total_tokens"] = usage.num_prompt_tokens + usage.num_completion_tokens;
  object["prompt_tokens_details"] = json::object{{"cached_tokens", 0}};
  object["completion_tokens_details"] =
      json::object{{"reasoning_tokens", usage.num_reasoning_tokens}};
  return object;
}

void add_chunk_usage(json::object& chunk, const AnswerOptions& options, const CallUsage& usage) {
  if (options.continuous_usage_stats) {
    chunk["usage"] = usage_object(usage);
  } else if (options.include_usage) {
    chunk["usage"] = nullptr;
  }
}

json::value finish_reason_value(const std::optional<FinishInfo>& finish) {
  if (!finish) {
    return nullptr;
  }
  switch (finish->reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kAbort:
    case FinishReason::kError:
      break;  // these end the whole call with an error instead
  }
  return nullptr;
}

json::value stop_reason_value(
    const std::optional<FinishInfo>& finish, const AnswerOptions& options
) {
  if (!finish) {
    return nullptr;
  }
  if (finish->stop_string) {
    const auto stop_idx = static_cast<std::size_t>(*finish->stop_string);
    if (stop_idx < options.stop_strings.size()) {
      return json::value(options.stop_strings[stop_idx]);
    }
  }
  if (finish->stop_token) {
    const std::vector<TokenId>& ids = options.stop_token_ids;
    if (std::ranges::find(ids, *finish->stop_token) != ids.end()) {
      return *finish->stop_token;
    }
  }
  return nullptr;
}

json::array token_id_array(const std::vector<TokenId>& ids) {
  return json::array(ids.begin(), ids.end());
}

std::string token_text(TokenId token, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) {
    return "token_id:" + std::to_string(token);
  }
  Detokenizer detokenizer(*tokenizer, true);
  std::string text = detokenizer.push_bytes(tokenizer->token_bytes(token));
  return text + detokenizer.finish();
}

void append_error_events(std::string& out, const Error& error) {
  append_event(out, to_json_text(error_object(error)));
  append_done_event(out);
}

void append_done_event(std::string& out) {
  append_event(out, "[DONE]");
}

}  // namespace rapt::openai
