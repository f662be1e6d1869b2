#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/http/http_message_internal.h"
#include "server/http/responder_internal.h"

namespace rapt {

struct HttpOptions {
  std::string host = "localhost";
  int port = 0;
  int num_io_threads = 2;
  int num_worker_threads = 4;
  std::size_t max_header_bytes = 64U << 10;
  std::size_t max_body_bytes = 32U << 20;
  std::chrono::milliseconds idle_timeout{120'000};
  std::chrono::milliseconds read_timeout{30'000};
  std::chrono::milliseconds request_timeout{300'000};
  std::chrono::milliseconds write_timeout{60'000};
};

// What an HttpServer serves. Called on IO and worker threads, several requests at once.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Looks at a request whose body has not been read (`body` is empty). An answer here ends it.
  virtual std::optional<HttpReply> screen(const HttpRequest& head) = 0;
  // Whether handle() takes next to no time. Then it is called on an IO thread; otherwise on one of
  // the workers, and what it does to its responder shows once it has returned.
  virtual bool is_quick(const HttpRequest& request) const = 0;
  virtual void handle(HttpRequest request, std::shared_ptr<Responder> responder) = 0;
};

// HTTP/1.1 on TCP: listeners, connections, IO threads, and workers for the handlers that may take
// long (at most one request of a connection waits for one); knows neither routes nor dialects. What
// is no HTTP gets a 400 in OpenAI's error shape and the connection is closed. The only trace of
// Boost.Beast is in connection.cpp. Functions may be called from any thread but an IO thread.
class HttpServer {
 public:
  // `handler` must outlive the server.
  static Result<std::unique_ptr<HttpServer>> start(
      const HttpOptions& options, HttpHandler& handler
  );
  ~HttpServer();

  int port() const;
  std::vector<std::string> urls() const;

  void stop_accepting();
  bool is_accepting() const;
  // Waits until no request is between its head and the end of its answer.
  bool wait_idle(std::chrono::milliseconds timeout);
  // Cuts what is left and joins the threads; a handler that runs is waited for. Idempotent.
  void stop();

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace rapt
