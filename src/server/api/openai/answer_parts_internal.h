#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "request/request.h"
#include "server/api/choice_decoder_internal.h"
#include "server/api/engine_call_internal.h"

namespace rapt::openai {

// What chat and text answers have in common, and the JSON parts that both are made of.
struct AnswerOptions {
  std::string id;
  std::int64_t created = 0;
  std::string model;
  std::string fingerprint;
  const Tokenizer* tokenizer = nullptr;
  std::vector<std::string> stop_strings;
  std::vector<TokenId> stop_token_ids;
  bool with_logprobs = false;
  bool with_token_ids = false;
  bool include_usage = false;
  bool continuous_usage_stats = false;
  int num_choices = 1;                        // of each prompt
  std::vector<std::vector<TokenId>> prompts;  // with_token_ids: one a prompt
};

// id, object, created, model, system_fingerprint.
json::object answer_head(const AnswerOptions& options, std::string_view object);

json::object usage_object(const CallUsage& usage);

// Adds `usage` to a stream's chunk as the options ask: the figures, null, or not at all.
void add_chunk_usage(json::object& chunk, const AnswerOptions& options, const CallUsage& usage);

// "stop", "length", or null for a choice that goes on.
json::value finish_reason_value(const std::optional<FinishInfo>& finish);
// vLLM's stop_reason: the stop string or stop token id of the request that ended it, else null.
json::value stop_reason_value(
    const std::optional<FinishInfo>& finish, const AnswerOptions& options
);

json::array token_id_array(const std::vector<TokenId>& ids);

// A token's text on its own. Without a tokenizer, vLLM's way to name an id.
std::string token_text(TokenId token, const Tokenizer* tokenizer);

// {"content": [{"token", "bytes", "logprob", "top_logprobs"}], "refusal": null}
// With ids each token also has its `token_id`.
json::object chat_logprobs(
    const std::vector<LogprobEntry>& entries, const Tokenizer* tokenizer, bool with_ids
);
// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}
json::object completion_logprobs(
    const std::vector<LogprobEntry>& entries, const Tokenizer* tokenizer
);

// An error event and the end of a stream.
void append_error_events(std::string& out, const Error& error);
void append_done_event(std::string& out);

}  // namespace rapt::openai
