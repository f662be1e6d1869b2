#include <ctime>

#include "base/json.h"
#include "server/api/engine_call_internal.h"
#include "server/api/openai/answer_writers_internal.h"
#include "server/api/openai/chat_request_internal.h"
#include "server/api/openai/make_request_internal.h"
#include "server/api/openai/routes_internal.h"
#include "server/ops/metrics_internal.h"
#include "text/chat/chat_format.h"

namespace rapt::openai {

namespace {

std::string todays_date() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return {text, size};
}

StopRules chat_stop_rules(const ApiContext& context, const GenerationParams& params) {
  StopRules stop = make_stop_rules(params);
  stop.eos_token_ids = context.config.eos_token_ids;
  for (const TokenId id : context.chat_format->stop_token_ids()) {
    stop.eos_token_ids.push_back(id);
  }
  if (!params.stop_strings.empty()) {
    stop.make_stop_matcher = [format = context.chat_format,
                              stops = params.stop_strings,
                              min_tokens = params.min_tokens] {
      return format->make_stop_matcher(stops, min_tokens);
    };
  }
  return stop;
}

// From the body to a call that is ready to start.
Result<CallPlan> plan_chat(ApiContext& context, const HttpRequest& http) {
  ASSIGN_OR_RETURN(const json::value body, parse_json(http.body, "The request body"));
  ASSIGN_OR_RETURN(ChatCompletionRequest chat, parse_chat_request(body));
  ASSIGN_OR_RETURN(chat.params.model, resolve_model(context, chat.params.model));
  for (const std::string& field : chat.ignored_fields) {
    context.metrics.count_ignored_field(field);
  }
  if (context.chat_format == nullptr || context.tokenizer == nullptr) {
    return invalid_argument(
        "This model has no chat format here; use /v1/completions instead.", "messages"
    );
  }
  RETURN_IF_ERROR(check_vocabulary(context, chat.params));
  if (!chat.options.conversation_date) {
    chat.options.conversation_date =
        context.config.conversation_date ? *context.config.conversation_date : todays_date();
  }
  Result<std::vector<TokenId>> prompt = context.chat_format->render(chat.messages, chat.options);
  if (!prompt) {
    Error error = std::move(prompt).error();
    error.param = error.param.empty() ? "messages" : error.param;
    return error;
  }
  AnswerOptions answer = make_answer_options(context, chat.params, "chatcmpl-");
  CallPlan plan;
  plan.client_id = answer.id;
  plan.request_id = http.request_id;
  plan.num_choices = chat.params.num_choices;
  plan.stream = chat.params.stream;
  plan.keep_alive = context.config.sse_keep_alive;
  if (chat.params.return_token_ids) {
    answer.prompts.push_back(*prompt);
  }
  ASSIGN_OR_RETURN(
      Request request,
      make_request(
          context,
          chat.params,
          std::move(prompt).value(),
          chat_stop_rules(context, chat.params),
          "messages"
      )
  );
  request.client_id = answer.id;
  plan.requests.push_back(std::move(request));
  for (int choice = 0; choice < plan.num_choices; ++choice) {
    plan.decoders.push_back(make_chat_decoder(
        *context.tokenizer, *context.chat_format, make_decoder_options(chat.params)
    ));
  }
  plan.writer = make_chat_writer(std::move(answer), chat.include_reasoning);
  return plan;
}

}  // namespace

void handle_chat(ApiContext& context, HttpRequest request, std::shared_ptr<Responder> responder) {
  const auto arrival = std::chrono::steady_clock::now();
  Result<CallPlan> plan = plan_chat(context, request);
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
