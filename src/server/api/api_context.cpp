#include <algorithm>

#include "base/json.h"
#include "server/api/api_context_internal.h"
#include "server/errors_internal.h"
#include "server/ops/metrics_internal.h"

namespace rapt {

void reject(ApiContext& context, Responder& responder, const Error& error) {
  context.metrics.count_rejection(
      error.reason.empty() ? std::to_string(http_status(error.code)) : error.reason
  );
  responder.send(error_reply(error));
}

void send_json(ApiContext& context, Responder& responder, const Result<json::value>& value) {
  if (!value) {
    reject(context, responder, value.error());
    return;
  }
  HttpReply reply;
  reply.body = to_json_text(*value);
  responder.send(std::move(reply));
}

Result<std::string> resolve_model(const ApiContext& context, const std::string& name) {
  const std::vector<std::string>& served = context.config.served_model_names;
  if (name.empty()) {
    return served.front();
  }
  if (std::ranges::find(served, name) != served.end()) {
    return name;
  }
  std::string message = "The model ";
  append_json_string(
      message, name.size() > 100 ? "(a name of " + std::to_string(name.size()) + " bytes)" : name
  );
  message += " does not exist here; this server has ";
  append_json_string(message, served.front());
  Error error = not_found(message + ".");
  error.param = "model";
  error.reason = "model_not_found";
  return error;
}

}  // namespace rapt
