#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "request/request.h"
#include "server/http/responder_internal.h"
#include "server/server.h"

namespace rapt {

class CallRegistry;
class ServerMetrics;

// What every API route needs. Owned by the Server; lives as long as its IO threads.
struct ApiContext {
  const ServerConfig& config;
  Engine& engine;
  const Tokenizer* tokenizer;     // may be null
  const ChatFormat* chat_format;  // may be null
  ServerMetrics& metrics;
  CallRegistry& calls;
  std::string fingerprint;  // OpenAI's system_fingerprint: changes when outputs may change
  std::int64_t start_time = 0;
  std::atomic<RequestId> last_request_id{0};
};

// Answers with `error` and counts it.
void reject(ApiContext& context, Responder& responder, const Error& error);

// Answers with the value, or with the error.
void send_json(ApiContext& context, Responder& responder, const Result<json::value>& value);

// The served model that `name` means, or 404. An absent name means the first one.
Result<std::string> resolve_model(const ApiContext& context, const std::string& name);

}  // namespace rapt
