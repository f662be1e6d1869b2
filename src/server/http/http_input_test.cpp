#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/http/http_server_test_internal.h"

// What a connection makes of the bytes that clients send: framing, limits, garbage, silence.

namespace rapt {
namespace {

class HttpInputTest : public HttpServerTest {};

TEST_P(HttpInputTest, ARequestMayComeByteByByte) {
  start();
  HttpClient http = client();
  for (const char c : std::string("POST /a HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi")) {
    http.send(std::string_view(&c, 1));
  }
  EXPECT_EQ(http.read_response().body, "POST /a hi");
}

TEST_P(HttpInputTest, ChunkedBodiesAreRead) {
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n3\r\n yo\r\n0\r\n\r\n"
  );
  EXPECT_EQ(http.read_response().body, "POST /a hi yo");
}

TEST_P(HttpInputTest, TooLargeABodyIs413) {
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

TEST_P(HttpInputTest, TooLargeAChunkedBodyIs413) {
  options.max_body_bytes = 10;
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n");
  EXPECT_EQ(http.read_response().status, 413);
}

TEST_P(HttpInputTest, TooLargeAHeadIs400) {
  options.max_header_bytes = 1000;
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("/a", "x: " + std::string(2000, 'x') + "\r\n").status, 400);
}

TEST_P(HttpInputTest, GarbageIs400InShapeAndTheConnectionEnds) {
  start();
  const std::string garbage[] = {
      "hello\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET  / HTTP/1.1\r\n\r\n",
      "GET /\r\n\r\n",
      "GET http HTTP/1.1\r\n\r\n",
      "GET /%zz HTTP/1.1\r\n\r\n",
      "GET ht%20tp://foo/health HTTP/1.1\r\n\r\n",
      "GET http://foo?x=/health HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nno colon\r\n\r\n",
      "GET / HTTP/1.1\r\n: empty\r\n\r\n",
      "GET / HTTP/1.1\r\na b: c\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: 99999999999999999999999\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcdef",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc0\r\n\r\n",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + std::string(70'000, '1'),
      "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
      "\rGET / HTTP/1.1\r\n\r\n",
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

TEST_P(HttpInputTest, AnUnknownTransferEncodingHidesNoRequest) {
  start();
  for (const char* headers :
       {"transfer-encoding: gzip",
        "transfer-encoding: xchunked",
        "transfer-encoding: chunked, gzip",
        "transfer-encoding: gzip, chunked",
        "transfer-encoding: identity",
        "transfer-encoding:",
        "transfer-encoding: chunked\r\ntransfer-encoding: gzip",
        "transfer-encoding: gzip\r\ntransfer-encoding: chunked",
        "content-length: 5\r\ntransfer-encoding: gzip"}) {
    HttpClient http = client();
    http.send(
        "POST /a HTTP/1.1\r\n" + std::string(headers) +
        "\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\n\r\n"
    );
    const HttpClient::Response response = http.read_response();
    EXPECT_EQ(response.status, 400) << headers;
    EXPECT_THAT(response.body, ::testing::StartsWith(R"({"error":{"message":")")) << headers;
    EXPECT_EQ(response.headers.at("connection"), "close") << headers;
    EXPECT_EQ(http.read_all(), "") << headers;
  }
}

TEST_P(HttpInputTest, OldHttpKnowsNoTransferEncoding) {
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n");
  EXPECT_EQ(http.read_response().status, 400);
  EXPECT_EQ(http.read_all(), "");
}

TEST_P(HttpInputTest, OneEmptyLineBeforeARequestIsIgnored) {
  start();
  HttpClient http = client();
  http.send("\r\nPOST /a HTTP/1.1\r\ncontent-length: 1\r\n\r\nx\r\n");
  EXPECT_EQ(http.read_response().body, "POST /a x");
  EXPECT_EQ(http.get("/b").body, "GET /b ");
  for (const char c : std::string("\r\nGET /c HTTP/1.1\r\n\r\n")) {
    http.send(std::string_view(&c, 1));
  }
  EXPECT_EQ(http.read_response().body, "GET /c ");
}

TEST_P(HttpInputTest, AbsoluteTargetsAreUnderstood) {
  start();
  HttpClient http = client();
  EXPECT_EQ(http.get("http://foo:80/health?x").body, "GET /health ");
}

TEST_P(HttpInputTest, AChunkedBodyMayComeByteByByte) {
  start();
  HttpClient http = client();
  for (const char c : std::string("POST /a HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"
                                  "3;x=y\r\nabc\r\n01\r\nd\r\n0\r\ntrailer: t\r\n\r\n")) {
    http.send(std::string_view(&c, 1));
  }
  EXPECT_EQ(http.read_response().body, "POST /a abcd");
  for (const char c :
       std::string("POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")) {
    http.send(std::string_view(&c, 1));
  }
  EXPECT_EQ(http.read_response().body, "POST /a ");
  EXPECT_EQ(http.get("/b").body, "GET /b ");
}

TEST_P(HttpInputTest, RandomBytesNeverGetA5xx) {
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

TEST_P(HttpInputTest, ARequestThatDoesNotEndInTimeIs408) {
  options.read_timeout = std::chrono::milliseconds(50);
  start();
  for (const char* beginning :
       {"P",
        "POST /a HTTP/1.1\r\n",
        "POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\n",
        "POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhi",
        "POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
        "POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc",
        "POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"}) {
    HttpClient http = client();
    http.send(beginning);
    const HttpClient::Response response = http.read_response();
    EXPECT_EQ(response.status, 408) << beginning;
    EXPECT_THAT(response.body, ::testing::StartsWith(R"({"error":{"message":")")) << beginning;
    EXPECT_EQ(response.headers.at("connection"), "close") << beginning;
    EXPECT_EQ(http.read_all(), "") << beginning;
  }
  EXPECT_TRUE(server->wait_idle(std::chrono::seconds(20)));
}

TEST_P(HttpInputTest, ARequestThatComesTooSlowlyAltogetherIs408) {
  options.request_timeout = std::chrono::milliseconds(50);
  start();
  HttpClient http = client();
  http.send("POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhi");
  EXPECT_EQ(http.read_response().status, 408);
}

INSTANTIATE_TEST_SUITE_P(OnWorkers, HttpInputTest, ::testing::Values(true));

}  // namespace
}  // namespace rapt
