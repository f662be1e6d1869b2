#include "server/server.h"

#include <cstdio>
#include <ctime>

#include "base/log.h"
#include "engine/engine.h"
#include "server/api/api_context_internal.h"
#include "server/api/engine_call_internal.h"
#include "server/api/openai/routes_internal.h"
#include "server/http/http_server_internal.h"
#include "server/http/router_internal.h"
#include "server/ops/engine_events_internal.h"
#include "server/ops/metrics_internal.h"
#include "server/ops/ops_routes_internal.h"
#include "server/page/page_routes_internal.h"

namespace rapt {

namespace {

// How long calls that were cut off have to get their last words out.
constexpr std::chrono::milliseconds kFarewellTime{1'000};

// FNV-1a of what names everything that can change an output.
std::string fingerprint_of(const std::string& numerics_id) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : numerics_id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  char text[24];
  std::snprintf(text, sizeof text, "fp_%016llx", static_cast<unsigned long long>(hash));
  return text;
}

HttpOptions http_options(const ServerConfig& config) {
  HttpOptions options;
  options.host = config.host;
  options.port = config.port;
  options.num_io_threads = config.num_io_threads;
  options.max_header_bytes = config.max_header_bytes;
  options.max_body_bytes = config.max_body_bytes;
  options.idle_timeout = config.idle_timeout;
  options.read_timeout = config.read_timeout;
  options.request_timeout = config.request_timeout;
  options.write_timeout = config.write_timeout;
  return options;
}

}  // namespace

// Members in the order in which they depend on each other; the IO threads in `http` use all others.
struct Server::Impl {
  Impl(
      ServerConfig the_config,
      Engine& engine,
      const Tokenizer* tokenizer,
      const ChatFormat* chat_format
  )
      : config(std::move(the_config)),
        metrics(engine, config.served_model_names.front(), config.attention_slots),
        context{
            .config = config,
            .engine = engine,
            .tokenizer = tokenizer,
            .chat_format = chat_format,
            .metrics = metrics,
            .calls = calls,
            .fingerprint = fingerprint_of(engine.numerics_id()),
            .start_time = static_cast<std::int64_t>(std::time(nullptr))},
        events(engine, config.served_model_names.front(), config.version),
        router(config.api_keys, [this] { return is_draining.load(); }) {
    openai::add_routes(router, context);
    add_ops_routes(router, context, events, [this] { return is_draining.load(); });
    add_page_routes(router, context);
  }

  const ServerConfig config;
  std::atomic<bool> is_draining{false};
  ServerMetrics metrics;
  CallRegistry calls;
  ApiContext context;
  EngineEvents events;
  Router router;
  std::unique_ptr<HttpServer> http;
};

Result<std::unique_ptr<Server>> Server::start(
    ServerConfig config, Engine& engine, const Tokenizer* tokenizer, const ChatFormat* chat_format
) {
  if (config.served_model_names.empty()) {
    return invalid_argument("A server needs at least one model name.", "served_model_names");
  }
  const HttpOptions options = http_options(config);
  auto impl = std::make_unique<Impl>(std::move(config), engine, tokenizer, chat_format);
  ASSIGN_OR_RETURN(impl->http, HttpServer::start(options, impl->router));
  for (const std::string& url : impl->http->urls()) {
    LOG_INFO("listening", kv("url", url));
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop();
}

int Server::port() const {
  return impl_->http->port();
}

std::vector<std::string> Server::urls() const {
  return impl_->http->urls();
}

void Server::stop_accepting() {
  impl_->is_draining.store(true);
  impl_->http->stop_accepting();
  impl_->events.close();
}

bool Server::wait_idle(std::chrono::milliseconds timeout) {
  return impl_->http->wait_idle(timeout);
}

void Server::stop() {
  stop_accepting();
  impl_->calls.fail_all(Error{ErrorCode::kUnavailable, "The server is shutting down."});
  impl_->http->wait_idle(kFarewellTime);
  impl_->http->stop();
  impl_->calls.abandon_all();
}

}  // namespace rapt
