#include <string>
#include <utility>

#include "base/json.h"
#include "server/api/engine_call_internal.h"
#include "server/api/openai/answer_writers_internal.h"
#include "server/api/openai/chat_prompt_internal.h"
#include "server/api/openai/make_request_internal.h"
#include "server/api/openai/routes_internal.h"
#include "server/http/http_text_internal.h"
#include "text/chat/chat_format.h"
#include "text/detokenizer.h"

namespace rapt::openai {

namespace {

StopRules chat_stop_rules(const ApiContext& context, const ChatCompletionRequest& chat) {
  StopRules stop = make_stop_rules(chat.params);
  stop.eos_token_ids = context.config.eos_token_ids;
  for (const TokenId id : context.chat_format->stop_token_ids()) {
    stop.eos_token_ids.push_back(id);
  }
  if (!chat.params.stop_strings.empty()) {
    stop.make_stop_matcher = [format = context.chat_format,
                              options = chat.options,
                              stops = chat.params.stop_strings,
                              min_tokens = chat.params.min_tokens] {
      return format->make_stop_matcher(options, stops, min_tokens);
    };
  }
  return stop;
}

// From the body to a call that is ready to start.
Result<CallPlan> plan_chat(ApiContext& context, const HttpRequest& http) {
  ASSIGN_OR_RETURN(const json::value body, parse_json(http.body, "The request body"));
  ASSIGN_OR_RETURN(ChatPrompt prompt, make_chat_prompt(context, body));
  const ChatCompletionRequest& chat = prompt.chat;
  RETURN_IF_ERROR(check_vocabulary(context, chat.params));
  AnswerOptions answer = make_answer_options(context, chat.params, "chatcmpl-");
  CallPlan plan;
  plan.client_id = answer.id;
  plan.request_id = http.request_id;
  plan.num_choices = chat.params.num_choices;
  plan.stream = chat.params.stream;
  plan.keep_alive = context.config.sse_keep_alive;
  if (chat.params.return_token_ids) {
    answer.prompts.push_back(prompt.ids);
  }
  ASSIGN_OR_RETURN(
      Request request,
      make_request(
          context, chat.params, std::move(prompt.ids), chat_stop_rules(context, chat), "messages"
      )
  );
  request.client_id = answer.id;
  request.make_constraint = context.chat_format->make_constraint(chat.options);
  plan.requests.push_back(std::move(request));
  for (int choice = 0; choice < plan.num_choices; ++choice) {
    // No two choices anywhere may give their calls the same ids: clients match results by them.
    const std::string id_seed = random_hex(32) + std::to_string(choice);
    plan.decoders.push_back(make_chat_decoder(
        *context.tokenizer,
        context.chat_format->make_parser(chat.options, id_seed),
        make_decoder_options(chat.params)
    ));
  }
  plan.writer = make_chat_writer(std::move(answer), chat.include_reasoning);
  return plan;
}

// The prompt of a chat request, as ids and as text with its special tokens spelled out.
Result<json::value> render_chat(ApiContext& context, const HttpRequest& http) {
  ASSIGN_OR_RETURN(const json::value body, parse_json(http.body, "The request body"));
  ASSIGN_OR_RETURN(const ChatPrompt prompt, make_chat_prompt(context, body));
  json::object answer;
  answer["object"] = "chat.completion.render";
  answer["model"] = prompt.chat.params.model;
  answer["prompt"] = text_of_tokens(*context.tokenizer, prompt.ids);
  answer["prompt_token_ids"] = token_id_array(prompt.ids);
  return json::value(std::move(answer));
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

void handle_chat_render(ApiContext& context, const HttpRequest& request, Responder& responder) {
  send_json(context, responder, render_chat(context, request));
}

}  // namespace rapt::openai
