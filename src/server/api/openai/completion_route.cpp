#include "base/json.h"
#include "server/api/engine_call_internal.h"
#include "server/api/openai/answer_writers_internal.h"
#include "server/api/openai/completion_request_internal.h"
#include "server/api/openai/make_request_internal.h"
#include "server/api/openai/routes_internal.h"
#include "server/ops/metrics_internal.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"
#include "text/tokenizer.h"

namespace rapt::openai {

namespace {

Error needs_tokenizer(const std::string& what, const std::string& param) {
  return Error{
      ErrorCode::kInvalidArgument,
      what + " needs a tokenizer, and this model came without one; send token ids.",
      param,
      "unsupported_parameter"};
}

// Special tokens that the text spells out become their ids, and BOS comes first where the model's
// files want it, as vLLM does for text prompts.
Result<std::vector<TokenId>> to_ids(const Tokenizer* tokenizer, Prompt&& prompt) {
  if (auto* ids = std::get_if<std::vector<TokenId>>(&prompt)) {
    return std::move(*ids);
  }
  if (tokenizer == nullptr) {
    return needs_tokenizer("A text prompt", "prompt");
  }
  return tokenizer->encode_prompt(std::get<std::string>(prompt));
}

std::string to_text(const Tokenizer* tokenizer, const Prompt& prompt) {
  if (const auto* text = std::get_if<std::string>(&prompt)) {
    return *text;
  }
  return tokenizer == nullptr ? std::string()
                              : text_of_tokens(*tokenizer, std::get<std::vector<TokenId>>(prompt));
}

StopRules completion_stop_rules(const ApiContext& context, const GenerationParams& params) {
  StopRules stop = make_stop_rules(params);
  stop.eos_token_ids = context.config.eos_token_ids;
  if (!params.stop_strings.empty()) {
    stop.make_stop_matcher = [tokenizer = context.tokenizer,
                              stops = params.stop_strings,
                              min_tokens = params.min_tokens,
                              keep_special = !params.skip_special_tokens] {
      return make_text_stop_matcher(*tokenizer, stops, min_tokens, keep_special);
    };
  }
  return stop;
}

// Adds one prompt's request and the decoders of its choices.
Result<void> plan_prompt(
    ApiContext& context,
    const CompletionRequest& completion,
    Prompt prompt,
    AnswerOptions& answer,
    std::vector<std::string>& echoes,
    CallPlan& plan
) {
  const GenerationParams& params = completion.params;
  DecoderOptions decoder = make_decoder_options(params);
  if (completion.echo) {
    echoes.push_back(to_text(context.tokenizer, prompt));
    decoder.text_offset = num_characters(echoes.back());
  }
  ASSIGN_OR_RETURN(std::vector<TokenId> ids, to_ids(context.tokenizer, std::move(prompt)));
  if (params.return_token_ids) {
    answer.prompts.push_back(ids);
  }
  ASSIGN_OR_RETURN(
      Request request,
      make_request(
          context, params, std::move(ids), completion_stop_rules(context, params), "prompt"
      )
  );
  request.client_id = answer.id;
  plan.requests.push_back(std::move(request));
  for (int choice = 0; choice < plan.num_choices; ++choice) {
    plan.decoders.push_back(make_text_decoder(context.tokenizer, decoder));
  }
  return {};
}

Result<CallPlan> plan_completion(ApiContext& context, const HttpRequest& http) {
  ASSIGN_OR_RETURN(const json::value body, parse_json(http.body, "The request body"));
  ASSIGN_OR_RETURN(
      CompletionRequest completion, parse_completion_request(body, context.config.sampling)
  );
  GenerationParams& params = completion.params;
  ASSIGN_OR_RETURN(params.model, resolve_model(context, params.model));
  for (const std::string& field : completion.ignored_fields) {
    context.metrics.count_ignored_field(field);
  }
  if (context.tokenizer == nullptr && !params.stop_strings.empty()) {
    return needs_tokenizer("A stop string", "stop");
  }
  RETURN_IF_ERROR(check_vocabulary(context, params));
  AnswerOptions answer = make_answer_options(context, params, "cmpl-");
  CallPlan plan;
  plan.client_id = answer.id;
  plan.request_id = http.request_id;
  plan.num_choices = params.num_choices;
  plan.stream = params.stream;
  plan.keep_alive = context.config.sse_keep_alive;
  std::vector<std::string> echoes;
  for (Prompt& prompt : completion.prompts) {
    RETURN_IF_ERROR(plan_prompt(context, completion, std::move(prompt), answer, echoes, plan));
  }
  plan.writer = make_completion_writer(std::move(answer), std::move(echoes));
  return plan;
}

}  // namespace

void handle_completion(
    ApiContext& context, HttpRequest request, std::shared_ptr<Responder> responder
) {
  const auto arrival = std::chrono::steady_clock::now();
  Result<CallPlan> plan = plan_completion(context, request);
  if (!plan) {
    reject(context, *responder, plan.error());
    return;
  }
  plan->arrival = arrival;
  std::make_shared<EngineCall>(
      std::move(plan).value(), context.engine, context.metrics, context.calls, std::move(responder)
  )
      ->start();
}

}  // namespace rapt::openai
