#pragma once

#include <memory>

#include "server/api/api_context_internal.h"
#include "server/http/http_message_internal.h"
#include "server/http/router_internal.h"

namespace rapt::openai {

void handle_chat(ApiContext& context, HttpRequest request, std::shared_ptr<Responder> responder);
// POST /v1/chat/completions/render: the prompt that a chat request becomes; nothing is generated.
void handle_chat_render(ApiContext& context, const HttpRequest& request, Responder& responder);
void handle_tokenize(ApiContext& context, const HttpRequest& request, Responder& responder);
void handle_detokenize(ApiContext& context, const HttpRequest& request, Responder& responder);
void handle_completion(
    ApiContext& context, HttpRequest request, std::shared_ptr<Responder> responder
);
void handle_model_list(ApiContext& context, Responder& responder);
// GET /v1/models/{id}; an id may hold slashes.
void handle_model(ApiContext& context, const std::string& id, Responder& responder);

// All routes of OpenAI's dialect. `context` must outlive the router.
void add_routes(Router& router, ApiContext& context);

}  // namespace rapt::openai
