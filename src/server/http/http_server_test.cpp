#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "server/errors_internal.h"
#include "server/http/http_server_internal.h"
#include "server/testing/http_client_internal.h"

namespace rapt {
namespace {

// Echoes bodies, streams on /stream, and on /wait keeps the responder until the test takes it.
class EchoHandler final : public HttpHandler {
 public:
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

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Responder> waiting_;
  int num_gone_ = 0;
};

class HttpServerTest : public ::testing::Test {
 protected:
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

TEST_F(HttpServerTest, OneConnectionServesManyRequests) {
  start();
  HttpClient http = client();
  for (int i = 0; i < 3; ++i) {
    const HttpClient::Response response = http.post("/echo", "body" + std::to_string(i));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST /echo body" + std::to_string(i));
    EXPECT_EQ(response.headers.count("connection"), 0U);
    EXPECT_EQ(response.headers.count("date"), 1U);
  }
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  HttpClient http = client();
  http.send(
      "POST /a HTTP/1.1\r\ncontent-length: 1\r\n\r\nxGET /stream HTTP/1.1\r\n\r\n"
      "GET /b HTTP/1.1\r\n\r\n"
  );
  EXPECT_EQ(http.read_response().body, "POST /a x");
  EXPECT_EQ(http.read_response().events().size(), 2U);
  EXPECT_EQ(http.read_response().body, "GET /b ");
}

TEST_F(HttpServerTest, ARequestMayComeByteByByte) {
  start();
  HttpClient http = client();
  for (const char c : std::string("POST /a HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi")) {
    http.send(std::string_view(&c, 1));
  }
  EXPECT_EQ(http.read_response().body, "POST /a hi");
}

TEST_F(HttpServerTest, ChunkedBodiesAreRead) {
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n3\r\n yo\r\n0\r\n\r\n"
  );
  EXPECT_EQ(http.read_response().body, "POST /a hi yo");
}

TEST_F(HttpServerTest, ExpectContinueIsAnswered) {
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  EXPECT_EQ(http.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  http.send("hi");
  EXPECT_EQ(http.read_response().body, "POST /a hi");
}

TEST_F(HttpServerTest, ARefusedRequestDoesNotGetItsContinue) {
  start();
  HttpClient http = client();
  http.send("POST /refused HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  const HttpClient::Response response = http.read_response();
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.headers.at("connection"), "close");
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  start();
  HttpClient http = client();
  http.send("HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n");
  const HttpClient::Response response = http.read_response(false);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("content-length"), "8");
  EXPECT_EQ(http.read_response().body, "GET /b ");
}

TEST_F(HttpServerTest, RequestIdsAreEchoedOrMade) {
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a", "X-Request-Id: mine\r\n").headers.at("x-request-id"), "mine");
  EXPECT_THAT(http.get("/a").headers.at("x-request-id"), ::testing::StartsWith("req_"));
}

TEST_F(HttpServerTest, ConnectionCloseIsHonoured) {
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a", "connection: close\r\n").headers.at("connection"), "close");
  EXPECT_EQ(http.read_all(), "");
}

TEST_F(HttpServerTest, OldHttpGetsAStreamWithoutChunks) {
  start();
  HttpClient http = client();
  http.send("GET /stream HTTP/1.0\r\n\r\n");
  const std::string answer = http.read_all();
  EXPECT_THAT(answer, ::testing::HasSubstr("connection: close"));
  EXPECT_THAT(answer, ::testing::Not(::testing::HasSubstr("transfer-encoding")));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\ndata: one\n\ndata: two\n\n"));
}

TEST_F(HttpServerTest, TooLargeABodyIs413) {
  options.max_body_bytes = 1000;
  start();
  HttpClient http = client();
  const HttpClient::Response response = http.post("/a", std::string(1001, 'x'));
  EXPECT_EQ(response.status, 413);
  EXPECT_THAT(response.body, ::testing::HasSubstr("\"code\":\"request_too_large\""));
  EXPECT_EQ(http.read_all(), "");
  HttpClient exact = client();
  EXPECT_EQ(exact.post("/a", std::string(1000, 'x')).status, 200);
}

TEST_F(HttpServerTest, TooLargeAChunkedBodyIs413) {
  options.max_body_bytes = 10;
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n");
  EXPECT_EQ(http.read_response().status, 413);
}

TEST_F(HttpServerTest, TooLargeAHeadIs400) {
  options.max_header_bytes = 1000;
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a", "x: " + std::string(2000, 'x') + "\r\n").status, 400);
}

TEST_F(HttpServerTest, GarbageIs400InShapeAndTheConnectionEnds) {
  start();
  const std::string garbage[] = {
      "hello\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET  / HTTP/1.1\r\n\r\n",
      "GET /\r\n\r\n",
      "GET http HTTP/1.1\r\n\r\n",
      "GET /%zz HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nno colon\r\n\r\n",
      "GET / HTTP/1.1\r\n: empty\r\n\r\n",
      "GET / HTTP/1.1\r\na b: c\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: 99999999999999999999999\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n0\r\n\r\n",
      "\x16\x03\x01\x02\x01\x01\xfc\x03\x03 this is a TLS hello\r\n\r\n",
      std::string("\0\0\0\0\r\n\r\n", 8),
      "\xff\xfe\xfd\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      std::string(100, '\n') + "x\r\n\r\n",
  };
  for (const std::string& bytes : garbage) {
    HttpClient http = client();
    http.send(bytes);
    const HttpClient::Response response = http.read_response();
    EXPECT_GE(response.status, 400) << bytes;
    EXPECT_LT(response.status, 500) << bytes;
    EXPECT_THAT(response.body, ::testing::StartsWith(R"({"error":{"message":")")) << bytes;
    EXPECT_EQ(http.read_all(), "") << bytes;
  }
  EXPECT_EQ(client().get("/a").status, 200);
}

TEST_F(HttpServerTest, RandomBytesNeverGetA5xx) {
  start();
  std::uint32_t state = 12345;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = round % 2 == 0 ? "" : "POST /a HTTP/1.1\r\n";
    for (int i = 0; i < 200; ++i) {
      state = state * 1664525U + 1013904223U;
      bytes += static_cast<char>(state >> 24U);
    }
    HttpClient http = client();
    http.send(bytes);
    http.finish_sending();
    const std::string answer = http.read_all();
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 4")) << answer;
  }
  EXPECT_EQ(client().get("/a").status, 200);
}

TEST_F(HttpServerTest, ABodyThatNeverComesEndsTheConnection) {
  options.read_timeout = std::chrono::milliseconds(50);
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhi");
  EXPECT_EQ(http.read_all(), "");
  EXPECT_TRUE(server->wait_idle(std::chrono::seconds(20)));
}

TEST_F(HttpServerTest, IdleConnectionsAreClosed) {
  options.idle_timeout = std::chrono::milliseconds(50);
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a").status, 200);
  EXPECT_EQ(http.read_all(), "");
}

TEST_F(HttpServerTest, AClientThatLeavesIsNoticed) {
  start();
  int num_gone = 0;
  for (const bool abruptly : {false, true}) {
    for (const char* path : {"/wait", "/quiet"}) {
      HttpClient http = client();
      http.send("GET " + std::string(path) + " HTTP/1.1\r\n\r\n");
      const std::shared_ptr<Responder> responder = handler.take_waiting();
      ASSERT_NE(responder, nullptr);
      http.close(abruptly);
      EXPECT_TRUE(handler.wait_gone(++num_gone));
    }
  }
  EXPECT_TRUE(server->wait_idle(std::chrono::seconds(20)));
}

TEST_F(HttpServerTest, AClientThatSentMoreAndLeavesIsNoticed) {
  start();
  HttpClient http = client();
  http.send("GET /wait HTTP/1.1\r\n\r\n");
  const std::shared_ptr<Responder> responder = handler.take_waiting();
  http.send("GET /next HTTP/1.1\r\n\r\n");
  http.close();
  EXPECT_TRUE(handler.wait_gone(1));
}

TEST_F(HttpServerTest, SilentStreamsGetComments) {
  start();
  HttpClient http = client();
  http.send("GET /quiet HTTP/1.1\r\n\r\n");
  EXPECT_THAT(http.read_until(": keep-alive\n\n\r\n"), ::testing::EndsWith("\n\n\r\n"));
  EXPECT_EQ(http.read_until("\n\n\r\n"), "e\r\n: keep-alive\n\n\r\n");
  const std::shared_ptr<Responder> responder = handler.take_waiting();
  responder->post([responder] { responder->end_stream(); });
  EXPECT_THAT(http.read_until("0\r\n\r\n"), ::testing::EndsWith("0\r\n\r\n"));
  EXPECT_EQ(http.get("/next").body, "GET /next ");
}

TEST_F(HttpServerTest, AReaderThatStopsIsSeenAndThenDropped) {
  options.write_timeout = std::chrono::milliseconds(200);
  start();
  HttpClient http = client();
  http.send("GET /wait HTTP/1.1\r\n\r\n");
  const std::shared_ptr<Responder> responder = handler.take_waiting();
  responder->post([responder] {
    responder->begin_event_stream(std::chrono::milliseconds(20'000));
    responder->write(std::string(32U << 20, 'x'));
    EXPECT_GT(responder->num_buffered_bytes(), 0U);
  });
  EXPECT_TRUE(handler.wait_gone(1));
}

TEST_F(HttpServerTest, DrainingLetsRequestsFinish) {
  start();
  HttpClient busy = client();
  busy.send("GET /wait HTTP/1.1\r\n\r\n");
  const std::shared_ptr<Responder> responder = handler.take_waiting();
  HttpClient idle = client();
  EXPECT_EQ(idle.get("/a").status, 200);
  server->stop_accepting();
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_FALSE(server->wait_idle(std::chrono::milliseconds(0)));
  responder->post([responder] { responder->send({.body = "done"}); });
  const HttpClient::Response response = busy.read_response();
  EXPECT_EQ(response.body, "done");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(server->wait_idle(std::chrono::seconds(20)));
  EXPECT_FALSE(client().is_connected());
}

TEST_F(HttpServerTest, StopCutsWhatIsLeft) {
  start();
  HttpClient http = client();
  http.send("GET /wait HTTP/1.1\r\n\r\n");
  const std::shared_ptr<Responder> responder = handler.take_waiting();
  server->stop();
  EXPECT_EQ(http.read_all(), "");
}

TEST_F(HttpServerTest, LocalhostIsBothLoopbackAddresses) {
  start();
  EXPECT_GT(server->port(), 0);
  EXPECT_THAT(server->urls()[0], ::testing::StartsWith("http://127.0.0.1:"));
  if (server->urls().size() < 2) {
    GTEST_SKIP() << "no IPv6 loopback here";
  }
  HttpClient http(server->port(), "::1");
  EXPECT_EQ(http.get("/a").status, 200);
}

TEST_F(HttpServerTest, APortInUseIsExplained) {
  start();
  HttpOptions second = options;
  second.port = server->port();
  const Result<std::unique_ptr<HttpServer>> other = HttpServer::start(second, handler);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, ::testing::HasSubstr("--port"));
}

TEST_F(HttpServerTest, BadHostsAndPortsAreExplained) {
  options.host = "not a host";
  EXPECT_EQ(HttpServer::start(options, handler).error().param, "host");
  options.host = "127.0.0.1";
  options.port = 70000;
  EXPECT_EQ(HttpServer::start(options, handler).error().param, "port");
}

}  // namespace
}  // namespace rapt
