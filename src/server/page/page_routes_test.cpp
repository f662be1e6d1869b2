#include "server/testing/server_test_internal.h"
#include "web/web_assets.h"

namespace rapt {
namespace {

using ::testing::HasSubstr;

TEST_F(ServerTest, ThePageNeedsNoKey) {
  config.api_keys = {"secret"};
  start();
  const HttpClient::Response page = client().get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("<!doctype html>"));
  EXPECT_EQ(page.headers.count("content-encoding"), 0U);
  EXPECT_EQ(at(client().get("/assets/server.json").json(), "needs_key"), true);
  EXPECT_EQ(client().get("/v1/engine/events").status, 401);
}

TEST_F(ServerTest, ThePageIsServedUnderAStrictPolicy) {
  start();
  for (const char* path : {"/", "/assets/main.js", "/assets/server.json"}) {
    const HttpClient::Response reply = client().get(path);
    const std::string& policy = reply.headers.at("content-security-policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, ::testing::Not(HasSubstr("unsafe")));
    EXPECT_EQ(reply.headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(reply.headers.at("referrer-policy"), "no-referrer");
  }
}

TEST_F(ServerTest, EveryFileOfThePageIsServedBothWays) {
  start();
  HttpClient http = client();
  for (const WebAsset& asset : web_assets()) {
    const std::string path = "/assets/" + std::string(asset.path);
    EXPECT_EQ(http.get(path).body, asset.bytes) << path;
    const HttpClient::Response packed = http.get(path, "accept-encoding: br, gzip;q=0.8\r\n");
    EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
    EXPECT_EQ(packed.headers.at("vary"), "accept-encoding");
    EXPECT_EQ(packed.body, asset.gzip) << path;
    EXPECT_EQ(http.get(path, "accept-encoding: gzip;q=0\r\n").body, asset.bytes) << path;
  }
}

TEST_F(ServerTest, AKnownFileIsNotSentAgain) {
  start();
  HttpClient http = client();
  const std::string etag = http.get("/").headers.at("etag");
  http.send("GET / HTTP/1.1\r\nhost: a\r\nif-none-match: " + etag + "\r\n\r\n");
  const HttpClient::Response same = http.read_response(false);
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.headers.count("content-length"), 0U);
  EXPECT_EQ(same.headers.at("etag"), etag);
  EXPECT_EQ(http.get("/", "if-none-match: W/\"0123\"\r\n").status, 200);
}

TEST_F(ServerTest, WhatThePageLacksIsA404) {
  start();
  expect_error(client().get("/assets/nothing.js"), 404, nullptr, nullptr);
  expect_error(client().get("/assets/../main.js"), 404, nullptr, nullptr);
  const HttpClient::Response posted = client().post("/", "{}");
  EXPECT_EQ(posted.status, 405);
}

TEST_F(ServerTest, ThePageLearnsWhatTheServerCan) {
  start();
  const json::value facts = client().get("/assets/server.json").json();
  EXPECT_EQ(at(facts, "needs_key"), false);
  const HttpClient::Response asked = client().post(
      "/v1/chat/completions",
      chat_body(
          R"(,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}})"
      )
  );
  EXPECT_EQ(at(facts, "structured_output"), asked.status == 200);
  EXPECT_EQ(at(facts, "reasoning_effort"), true);
  format.has_effort = false;
  EXPECT_EQ(at(client().get("/assets/server.json").json(), "reasoning_effort"), false);
}

}  // namespace
}  // namespace rapt
