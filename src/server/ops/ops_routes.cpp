#include "base/json.h"
#include "engine/engine.h"
#include "server/errors_internal.h"
#include "server/ops/engine_events_internal.h"
#include "server/ops/metrics_internal.h"
#include "server/ops/ops_routes_internal.h"

namespace rapt {

namespace {

using ResponderPtr = std::shared_ptr<Responder>;

// Healthy means: an idle engine, or one that finishes steps. A process that merely runs is not.
HttpReply health(const ApiContext& context, bool is_draining) {
  const EngineStats stats = context.engine.stats();
  if (!stats.healthy) {
    return error_reply(Error{
        ErrorCode::kUnavailable, "The engine has failed; the server must be restarted."});
  }
  if (stats.seconds_since_progress > context.config.max_seconds_without_progress) {
    return error_reply(Error{
        ErrorCode::kUnavailable,
        "The engine has work but has not finished a step for " +
            std::to_string(static_cast<int>(stats.seconds_since_progress)) + " s."});
  }
  if (is_draining) {
    return error_reply(Error{ErrorCode::kUnavailable, "The server is shutting down."});
  }
  HttpReply reply;
  reply.body = R"({"status":"ok"})";
  return reply;
}

}  // namespace

void add_ops_routes(
    Router& router,
    ApiContext& context,
    EngineEvents& events,
    const std::function<bool()>& is_draining
) {
  for (const char* path : {"/health", "/ping"}) {
    router.add(
        {.method = "GET",
         .path = path,
         .handler = [&context, is_draining](
                        const HttpRequest&, const ResponderPtr& responder
                    ) { responder->send(health(context, is_draining())); },
         .needs_key = false,
         .works_while_draining = true,
         .is_quick = true}
    );
  }
  router.add(
      {.method = "GET",
       .path = "/version",
       .handler =
           [&context](const HttpRequest&, const ResponderPtr& responder) {
             HttpReply reply;
             reply.body = to_json_text(json::object{{"version", context.config.version}});
             responder->send(std::move(reply));
           },
       .works_while_draining = true,
       .is_quick = true}
  );
  router.add(
      {.method = "GET",
       .path = "/v1/engine/attention",
       .handler =
           [&context](const HttpRequest&, const ResponderPtr& responder) {
             HttpReply reply;
             reply.body = context.config.attention_report;
             responder->send(std::move(reply));
           },
       .works_while_draining = true,
       .is_quick = true}
  );
  router.add(
      {.method = "GET",
       .path = "/metrics",
       .handler =
           [&context](const HttpRequest&, const ResponderPtr& responder) {
             HttpReply reply;
             reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
             reply.body = context.metrics.to_text();
             responder->send(std::move(reply));
           },
       .works_while_draining = true,
       .is_quick = true}
  );
  router.add(
      {.method = "GET",
       .path = "/v1/engine/events",
       .handler =
           [&context, &events](const HttpRequest& request, const ResponderPtr& responder) {
             if (request.method == "HEAD") {
               HttpReply reply;
               reply.content_type = "text/event-stream; charset=utf-8";
               responder->send(std::move(reply));
               return;
             }
             events.add(responder, context.config.sse_keep_alive);
           },
       .is_quick = true}
  );
}

}  // namespace rapt
