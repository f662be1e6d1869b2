#include "base/json.h"
#include "engine/engine.h"
#include "server/api/openai/routes_internal.h"

namespace rapt::openai {

namespace {

json::object model_object(const ApiContext& context, const std::string& name) {
  json::object model;
  model["id"] = name;
  model["object"] = "model";
  model["created"] = context.start_time;
  model["owned_by"] = "rapt";
  model["root"] = context.config.served_model_names.front();
  model["parent"] = nullptr;
  model["max_model_len"] = context.engine.max_model_len();
  return model;
}

}  // namespace

void handle_model_list(ApiContext& context, Responder& responder) {
  json::array models;
  for (const std::string& name : context.config.served_model_names) {
    models.emplace_back(model_object(context, name));
  }
  json::object list;
  list["object"] = "list";
  list["data"] = std::move(models);
  send_json(context, responder, json::value(std::move(list)));
}

void handle_model(ApiContext& context, const std::string& id, Responder& responder) {
  const Result<std::string> name = resolve_model(context, id);
  if (!name) {
    reject(context, responder, name.error());
    return;
  }
  send_json(context, responder, json::value(model_object(context, *name)));
}

void add_routes(Router& router, ApiContext& context) {
  using ResponderPtr = std::shared_ptr<Responder>;
  router.add(
      {.method = "POST",
       .path = "/v1/chat/completions",
       .handler = [&context](
                      HttpRequest request, ResponderPtr responder
                  ) { handle_chat(context, std::move(request), std::move(responder)); }}
  );
  router.add(
      {.method = "POST",
       .path = "/v1/completions",
       .handler = [&context](
                      HttpRequest request, ResponderPtr responder
                  ) { handle_completion(context, std::move(request), std::move(responder)); }}
  );
  using Handler = void (*)(ApiContext&, const HttpRequest&, Responder&);
  const std::pair<const char*, Handler> at_once[] = {
      {"/v1/chat/completions/render", handle_chat_render},
      {"/tokenize", handle_tokenize},
      {"/detokenize", handle_detokenize},
  };
  for (const auto& [path, handle] : at_once) {
    router.add(
        {.method = "POST",
         .path = path,
         .handler = [&context, handle = handle](
                        const HttpRequest& request, const ResponderPtr& responder
                    ) { handle(context, request, *responder); }}
    );
  }
  router.add(
      {.method = "GET",
       .path = "/v1/models",
       .handler = [&context](
                      const HttpRequest&, const ResponderPtr& responder
                  ) { handle_model_list(context, *responder); },
       .works_while_draining = true,
       .is_quick = true}
  );
  constexpr std::string_view kModelPrefix = "/v1/models/";
  router.add(
      {.method = "GET",
       .path = std::string(kModelPrefix),
       .handler =
           [&context, kModelPrefix](const HttpRequest& request, const ResponderPtr& responder) {
             handle_model(context, request.path.substr(kModelPrefix.size()), *responder);
           },
       .is_prefix = true,
       .works_while_draining = true,
       .is_quick = true}
  );
}

}  // namespace rapt::openai
