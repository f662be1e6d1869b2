#include <ctime>
#include <limits>
#include <random>

#include "engine/engine.h"
#include "server/api/openai/make_request_internal.h"
#include "server/http/http_text_internal.h"

namespace rapt::openai {

namespace {

constexpr int kNoTokenLimit = std::numeric_limits<int>::max() / 2;

std::uint64_t random_seed() {
  std::random_device source;
  return (static_cast<std::uint64_t>(source()) << 32U) | source();
}

Error unknown_token(const std::string& field, TokenId id, int vocab_size) {
  return Error{
      ErrorCode::kInvalidArgument,
      field + " holds token id " + std::to_string(id) + ", but the model's ids end at " +
          std::to_string(vocab_size - 1) + ".",
      field,
      "invalid_value"};
}

}  // namespace

Result<void> check_vocabulary(const ApiContext& context, const GenerationParams& params) {
  const int vocab_size = context.engine.vocab_size();
  for (const auto& [id, bias] : params.sampling.logit_bias) {
    if (id >= vocab_size) {
      return unknown_token("logit_bias", id, vocab_size);
    }
  }
  for (const TokenId id : params.stop_token_ids) {
    if (id >= vocab_size) {
      return unknown_token("stop_token_ids", id, vocab_size);
    }
  }
  return {};
}

StopRules make_stop_rules(const GenerationParams& params) {
  StopRules stop;
  stop.max_tokens = params.max_tokens.value_or(kNoTokenLimit);
  stop.min_tokens = params.min_tokens;
  stop.ignore_eos = params.ignore_eos;
  stop.stop_token_ids = params.stop_token_ids;
  return stop;
}

Result<Request> make_request(
    ApiContext& context,
    const GenerationParams& params,
    std::vector<TokenId> prompt,
    StopRules stop,
    const std::string& prompt_param
) {
  Request request;
  request.id = ++context.last_request_id;
  request.prompt = std::move(prompt);
  request.sampling = params.sampling;
  request.sampling.seed = params.seed ? *params.seed : random_seed();
  request.stop = std::move(stop);
  request.num_choices = params.num_choices;
  Result<void> valid = context.engine.validate(request);
  if (!valid) {
    Error error = std::move(valid).error();
    // To the engine every prompt is a prompt; to a chat client it is its messages.
    if (error.param.empty() || error.param == "prompt") {
      error.param = prompt_param;
    }
    return error;
  }
  return request;
}

DecoderOptions make_decoder_options(const GenerationParams& params) {
  DecoderOptions options;
  options.stop_strings = params.stop_strings;
  options.include_stop = params.include_stop_string;
  options.min_tokens = params.min_tokens;
  options.keep_special = !params.skip_special_tokens;
  options.keep_token_ids = params.return_token_ids;
  return options;
}

AnswerOptions make_answer_options(
    const ApiContext& context, const GenerationParams& params, const std::string& id_prefix
) {
  AnswerOptions options;
  options.id = id_prefix + random_hex(24);
  options.created = static_cast<std::int64_t>(std::time(nullptr));
  options.model = params.model;
  options.fingerprint = context.fingerprint;
  options.tokenizer = context.tokenizer;
  options.stop_strings = params.stop_strings;
  options.stop_token_ids = params.stop_token_ids;
  options.with_logprobs = params.sampling.num_logprobs.has_value();
  options.with_token_ids = params.return_token_ids;
  options.include_usage = params.include_usage;
  options.continuous_usage_stats = params.continuous_usage_stats;
  options.num_choices = params.num_choices;
  return options;
}

}  // namespace rapt::openai
