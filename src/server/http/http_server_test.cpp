#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "server/http/http_server_internal.h"
#include "server/http/http_server_test_internal.h"

namespace rapt {
namespace {

TEST_P(HttpServerTest, OneConnectionServesManyRequests) {
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

TEST_P(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
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

TEST_P(HttpServerTest, ExpectContinueIsAnswered) {
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  EXPECT_EQ(http.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  http.send("hi");
  EXPECT_EQ(http.read_response().body, "POST /a hi");
}

TEST_P(HttpServerTest, ARefusedRequestDoesNotGetItsContinue) {
  start();
  HttpClient http = client();
  http.send("POST /refused HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  const HttpClient::Response response = http.read_response();
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.headers.at("connection"), "close");
}

TEST_P(HttpServerTest, HeadHasNoBody) {
  start();
  HttpClient http = client();
  http.send("HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n");
  const HttpClient::Response response = http.read_response(false);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("content-length"), "8");
  EXPECT_EQ(http.read_response().body, "GET /b ");
}

TEST_P(HttpServerTest, RequestIdsAreEchoedOrMade) {
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a", "X-Request-Id: mine\r\n").headers.at("x-request-id"), "mine");
  EXPECT_THAT(http.get("/a").headers.at("x-request-id"), ::testing::StartsWith("req_"));
}

TEST_P(HttpServerTest, ConnectionCloseIsHonoured) {
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a", "connection: close\r\n").headers.at("connection"), "close");
  EXPECT_EQ(http.read_all(), "");
}

TEST_P(HttpServerTest, OldHttpGetsAStreamWithoutChunks) {
  start();
  HttpClient http = client();
  http.send("GET /stream HTTP/1.0\r\n\r\n");
  const std::string answer = http.read_all();
  EXPECT_THAT(answer, ::testing::HasSubstr("connection: close"));
  EXPECT_THAT(answer, ::testing::Not(::testing::HasSubstr("transfer-encoding")));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\ndata: one\n\ndata: two\n\n"));
}

TEST_P(HttpServerTest, IdleConnectionsAreClosed) {
  options.idle_timeout = std::chrono::milliseconds(50);
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a").status, 200);
  EXPECT_EQ(http.read_all(), "");
}

TEST_P(HttpServerTest, AClientThatLeavesIsNoticed) {
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

TEST_P(HttpServerTest, ASlowHandlerDelaysNobodyElse) {
  options.num_io_threads = 1;
  options.num_worker_threads = 2;
  start();
  HttpClient slow = client();
  slow.send("GET /slow HTTP/1.1\r\n\r\nGET /quick HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(handler.wait_slow(1));
  HttpClient other = client();
  EXPECT_EQ(other.get("/quick").body, "GET /quick ");
  EXPECT_EQ(other.get("/a").body, "GET /a ");
  EXPECT_EQ(other.get("/stream").events().size(), 2U);
  handler.let_go();
  EXPECT_EQ(slow.read_response().body, "GET /slow ");
  EXPECT_EQ(slow.read_response().body, "GET /quick ");
}

TEST_P(HttpServerTest, QuickOnesPassWhenAllWorkersAreBusy) {
  options.num_worker_threads = 2;
  start();
  HttpClient first = client();
  HttpClient second = client();
  HttpClient third = client();
  for (HttpClient* http : {&first, &second, &third}) {
    http->send("GET /slow HTTP/1.1\r\n\r\n");
  }
  ASSERT_TRUE(handler.wait_slow(2));
  EXPECT_EQ(client().get("/quick").body, "GET /quick ");
  handler.let_go();
  for (HttpClient* http : {&first, &second, &third}) {
    EXPECT_EQ(http->read_response().body, "GET /slow ");
  }
}

TEST_P(HttpServerTest, AClientThatLeavesWhileItsHandlerRunsIsNoticed) {
  start();
  int num_gone = 0;
  for (const bool abruptly : {false, true}) {
    handler.hold();
    HttpClient http = client();
    http.send("GET /slow HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(handler.wait_slow(num_gone + 1));
    http.close(abruptly);
    // The connection is gone, and the handler, which still runs, is told afterwards.
    EXPECT_TRUE(server->wait_idle(std::chrono::seconds(20)));
    handler.let_go();
    EXPECT_TRUE(handler.wait_gone(++num_gone));
  }
}

TEST_P(HttpServerTest, StopWaitsForHandlersThatRun) {
  options.num_worker_threads = 1;
  start();
  HttpClient http = client();
  HttpClient waiting = client();
  http.send("GET /slow HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(handler.wait_slow(1));
  waiting.send("GET /slow HTTP/1.1\r\n\r\n");
  std::thread stopping([this] { server->stop(); });
  handler.let_go();
  stopping.join();
  http.read_all();
  waiting.read_all();
}

TEST_P(HttpServerTest, AClientThatSentMoreAndLeavesIsNoticed) {
  start();
  HttpClient http = client();
  http.send("GET /wait HTTP/1.1\r\n\r\n");
  const std::shared_ptr<Responder> responder = handler.take_waiting();
  http.send("GET /next HTTP/1.1\r\n\r\n");
  http.close();
  EXPECT_TRUE(handler.wait_gone(1));
}

TEST_P(HttpServerTest, SilentStreamsGetComments) {
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

TEST_P(HttpServerTest, AReaderThatStopsIsSeenAndThenDropped) {
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

TEST_P(HttpServerTest, DrainingLetsRequestsFinish) {
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

TEST_P(HttpServerTest, StopCutsWhatIsLeft) {
  start();
  HttpClient http = client();
  http.send("GET /wait HTTP/1.1\r\n\r\n");
  const std::shared_ptr<Responder> responder = handler.take_waiting();
  server->stop();
  EXPECT_EQ(http.read_all(), "");
}

TEST_P(HttpServerTest, LocalhostIsBothLoopbackAddresses) {
  start();
  EXPECT_GT(server->port(), 0);
  EXPECT_THAT(server->urls()[0], ::testing::StartsWith("http://127.0.0.1:"));
  if (server->urls().size() < 2) {
    GTEST_SKIP() << "no IPv6 loopback here";
  }
  HttpClient http(server->port(), "::1");
  EXPECT_EQ(http.get("/a").status, 200);
}

TEST_P(HttpServerTest, APortInUseIsExplained) {
  start();
  HttpOptions second = options;
  second.port = server->port();
  const Result<std::unique_ptr<HttpServer>> other = HttpServer::start(second, handler);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, ::testing::HasSubstr("--port"));
}

TEST_P(HttpServerTest, BadHostsAndPortsAreExplained) {
  options.host = "not a host";
  EXPECT_EQ(HttpServer::start(options, handler).error().param, "host");
  options.host = "127.0.0.1";
  options.port = 70000;
  EXPECT_EQ(HttpServer::start(options, handler).error().param, "port");
}

INSTANTIATE_TEST_SUITE_P(
    Handlers,
    HttpServerTest,
    ::testing::Bool(),
    [](const ::testing::TestParamInfo<bool>& info) {
      return info.param ? "OnWorkers" : "OnIoThreads";
    }
);

}  // namespace
}  // namespace rapt
