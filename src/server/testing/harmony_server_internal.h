#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "server/server.h"
#include "server/testing/fake_engine_internal.h"
#include "server/testing/http_client_internal.h"
#include "text/chat/chat_format.h"
#include "text/tokenizer.h"

namespace rapt {

// gpt-oss's tokenizer, but for the text of special tokens: a byte that nothing else here writes. So
// a special token that leaks into an answer is seen, whatever the answer's text says.
class MarkedTokenizer final : public Tokenizer {
 public:
  static constexpr char kLeak = '\x01';

  std::vector<TokenId> encode(std::string_view text) const override {
    return tokenizer_->encode(text);
  }

  std::vector<TokenId> encode_with_special(std::string_view text) const override {
    return tokenizer_->encode_with_special(text);
  }

  std::string_view token_bytes(TokenId id) const override {
    return is_special(id) ? std::string_view(&kLeak, 1) : tokenizer_->token_bytes(id);
  }

  bool is_special(TokenId id) const override { return tokenizer_->is_special(id); }

  std::optional<TokenId> special_id(std::string_view name) const override {
    return tokenizer_->special_id(name);
  }

  int vocab_size() const override { return tokenizer_->vocab_size(); }

 private:
  std::unique_ptr<Tokenizer> tokenizer_ = builtin_o200k_harmony().value();
};

// The real server with gpt-oss's tokenizer and format over an engine that says what a test wants.
class HarmonyServerTest : public ::testing::Test {
 protected:
  static constexpr int kVocabSize = 201'088;
  static constexpr int kMaxModelLen = 8192;

  static void SetUpTestSuite() {
    set_log_level(LogLevel::kError);
    tokenizer = std::make_unique<MarkedTokenizer>();
    format = make_chat_format("harmony", *tokenizer).value();
  }

  static void TearDownTestSuite() {
    format.reset();
    tokenizer.reset();
    set_log_level(LogLevel::kInfo);
  }

  HarmonyServerTest() {
    engine.set_size(kVocabSize, kMaxModelLen);
    ServerConfig config;
    config.port = 0;
    config.served_model_names = {"demo"};
    config.conversation_date = "2025-06-28";
    Result<std::unique_ptr<Server>> started =
        Server::start(config, engine, tokenizer.get(), format.get());
    EXPECT_TRUE(started) << started.error().message;
    server = std::move(started).value();
  }

  HttpClient client() const { return HttpClient(server->port()); }

  static std::vector<TokenId> ids(std::string_view text) {
    return tokenizer->encode_with_special(text);
  }

  // Every choice answers `output`, whose special tokens are spelled out.
  void say(const std::string& output) {
    engine.set_script([output = ids(output)](const Request&, int) { return output; });
  }

  inline static std::unique_ptr<MarkedTokenizer> tokenizer;
  inline static std::unique_ptr<ChatFormat> format;
  FakeEngine engine;
  std::unique_ptr<Server> server;
};

// What a client has put together of one choice.
struct ClientChoice {
  struct Call {
    std::string id;
    std::string name;
    std::string arguments;

    bool operator==(const Call&) const = default;
  };

  std::string reasoning;
  std::string content;
  std::vector<Call> calls;
  std::string finish_reason;

  bool operator==(const ClientChoice&) const = default;
};

// The choices of a chat answer, streamed or not; fails the test where the answer's form is wrong.
std::vector<ClientChoice> read_chat_answer(const HttpClient::Response& response);

}  // namespace rapt
