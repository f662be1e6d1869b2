#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "server/errors_internal.h"
#include "server/http/http_server_internal.h"
#include "server/testing/http_client_internal.h"

namespace rapt {

// Echoes bodies, streams on /stream, on /wait keeps the responder until the test takes it, and
// blocks a worker on /slow until the test lets it go on.
class EchoHandler final : public HttpHandler {
 public:
  explicit EchoHandler(bool uses_workers) : uses_workers_(uses_workers) {}

  bool is_quick(const HttpRequest& request) const override {
    return request.path == "/quick" || (!uses_workers_ && request.path != "/slow");
  }

  std::optional<HttpReply> screen(const HttpRequest& head) override {
    if (head.path == "/refused") {
      return error_reply(not_found("No."));
    }
    return std::nullopt;
  }

  void handle(HttpRequest request, std::shared_ptr<Responder> responder) override {
    if (request.path == "/stream") {
      responder->begin_event_stream(std::chrono::milliseconds(20'000));
      responder->write("data: one\n\n");
      responder->write("data: two\n\n");
      responder->end_stream();
      return;
    }
    if (request.path == "/wait" || request.path == "/quiet") {
      if (request.path == "/quiet") {
        responder->begin_event_stream(std::chrono::milliseconds(10));
      }
      responder->on_disconnect([this] { note([this] { ++num_gone_; }); });
      note([&] { waiting_ = std::move(responder); });
      return;
    }
    if (request.path == "/slow") {
      responder->on_disconnect([this] { note([this] { ++num_gone_; }); });
      be_slow();
    }
    HttpReply reply;
    reply.content_type = "text/plain";
    reply.body = request.method + " " + request.path + " " + request.body;
    responder->send(std::move(reply));
  }

  std::shared_ptr<Responder> take_waiting() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return waiting_ != nullptr; });
    return std::move(waiting_);
  }

  bool wait_slow(int num_slow) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return num_slow_ == num_slow; });
  }

  void hold() {
    note([this] { may_go_on_ = false; });
  }

  void let_go() {
    note([this] { may_go_on_ = true; });
  }

  bool wait_gone(int num_gone) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return num_gone_ == num_gone; });
  }

 private:
  template <typename Change>
  void note(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  void be_slow() {
    std::unique_lock lock(mutex_);
    ++num_slow_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return may_go_on_; });
  }

  const bool uses_workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Responder> waiting_;
  int num_gone_ = 0;
  int num_slow_ = 0;
  bool may_go_on_ = false;
};

// Everything works the same whichever threads the handlers run on.
class HttpServerTest : public ::testing::TestWithParam<bool> {
 protected:
  HttpServerTest() : handler(GetParam()) {}

  void start() {
    Result<std::unique_ptr<HttpServer>> started = HttpServer::start(options, handler);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(started).value();
  }

  HttpClient client() const { return HttpClient(server->port()); }

  HttpOptions options;
  EchoHandler handler;
  std::unique_ptr<HttpServer> server;
};

}  // namespace rapt
