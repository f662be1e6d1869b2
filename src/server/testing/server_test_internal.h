#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "server/server.h"
#include "server/testing/fake_engine_internal.h"
#include "server/testing/fake_text_internal.h"
#include "server/testing/http_client_internal.h"

namespace rapt {

// A server on a free port over the fake engine, tokenizer and chat format. Tests change `config`
// before start().
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() : format(tokenizer) {
    config.port = 0;
    config.served_model_names = {"fake-model", "alias"};
    config.conversation_date = "2025-06-28";
    config.eos_token_ids = {FakeTokenizer::kEnd};
    config.version = "1.2.3";
  }

  void start() {
    Result<std::unique_ptr<Server>> started = Server::start(config, engine, &tokenizer, &format);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(started).value();
  }

  HttpClient client() const { return HttpClient(server->port()); }

  // The value at a path like "choices/0/text".
  static json::value at(const json::value& value, const std::string& path) {
    boost::system::error_code error;
    const json::value* found = value.find_pointer("/" + path, error);
    return found == nullptr ? json::value("(nothing at " + path + ")") : *found;
  }

  static std::string chat_body(const std::string& more = "") {
    return R"({"messages":[{"role":"user","content":"hi"}])" + more + "}";
  }

  static std::string text_body(const std::string& more = "") {
    return R"({"prompt":"hi")" + more + "}";
  }

  // Fails the test unless the body is OpenAI's error object, with these values.
  static void expect_error(
      const HttpClient::Response& response,
      int status,
      const json::value& param,
      const json::value& code
  ) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_EQ(response.headers.count("x-request-id"), 1U);
    const json::value body = response.json();
    ASSERT_TRUE(body.is_object()) << response.body;
    EXPECT_EQ(body.get_object().size(), 1U);
    const json::value error = at(body, "error");
    ASSERT_TRUE(error.is_object()) << response.body;
    EXPECT_EQ(error.get_object().size(), 4U);
    EXPECT_TRUE(at(body, "error/message").is_string());
    EXPECT_TRUE(at(body, "error/type").is_string());
    EXPECT_EQ(at(body, "error/param"), param) << response.body;
    EXPECT_EQ(at(body, "error/code"), code) << response.body;
  }

  FakeTokenizer tokenizer;
  FakeChatFormat format;
  FakeEngine engine;
  ServerConfig config;
  std::unique_ptr<Server> server;
};

}  // namespace rapt
