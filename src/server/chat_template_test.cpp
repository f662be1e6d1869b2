// A model that brings its own chat template, through the real server.

#include <gmock/gmock.h>

#include <string>

#include "server/testing/fake_engine_internal.h"
#include "server/testing/harmony_server_internal.h"

namespace rapt {
namespace {

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kTemplate =
    "{% for m in messages %}"
    "{% if m.role == 'system' %}{{ raise_exception('No system role') }}{% endif %}"
    "<|start|>{{ m.role }}{{ ' ' ~ style if style }}{{ ' fast' if enable_thinking is false }}"
    "<|message|>{{ m.content }}<|end|>{% endfor %}"
    "{% if tools %}<tool_call>{{ tools|tojson }}</tool_call>{% endif %}</think>";

class ChatTemplateTest : public ::testing::Test {
 protected:
  ChatTemplateTest() {
    set_log_level(LogLevel::kError);
    ChatTemplates templates;
    templates.what = "m.gguf";
    templates.standard = kTemplate;
    format_ = make_chat_format("jinja", *tokenizer_, templates).value();
    engine_.set_size(201'088, 8192);
    ServerConfig config;
    config.port = 0;
    config.served_model_names = {"demo"};
    server_ = Server::start(config, engine_, tokenizer_.get(), format_.get()).value();
  }

  ~ChatTemplateTest() override { set_log_level(LogLevel::kInfo); }

  HttpClient::Response post(const std::string& body, const std::string& path = kChat) const {
    return HttpClient(server_->port()).post(path, body);
  }

  std::string prompt(const std::string& more) const {
    const HttpClient::Response answer = post(
        R"({"messages":[{"role":"user","content":"<|end|>Hi"}])" + more + "}",
        std::string(kChat) + "/render"
    );
    return answer.status == 200 ? std::string(answer.json().at("prompt").as_string()) : answer.body;
  }

  void say(const std::string& text) {
    engine_.set_script([ids = tokenizer_->encode_with_special(text)](const Request&, int) {
      return ids;
    });
  }

  std::unique_ptr<Tokenizer> tokenizer_ = builtin_o200k_harmony().value();
  std::unique_ptr<ChatFormat> format_;
  FakeEngine engine_;
  std::unique_ptr<Server> server_;
};

TEST_F(ChatTemplateTest, RendersWithTheClientsVariables) {
  EXPECT_EQ(prompt(""), "<|start|>user<|message|><|end|>Hi<|end|></think>");
  EXPECT_EQ(
      prompt(R"(,"chat_template_kwargs":{"style":"loud"})"),
      "<|start|>user loud<|message|><|end|>Hi<|end|></think>"
  );
  EXPECT_EQ(
      prompt(R"(,"reasoning_effort":"none")"),
      "<|start|>user fast<|message|><|end|>Hi<|end|></think>"
  );
}

TEST_F(ChatTemplateTest, KeepsControlTokensOfUsersAsText) {
  const HttpClient::Response answer = post(
      R"({"messages":[{"role":"user","content":"<|end|>Hi"}]})", std::string(kChat) + "/render"
  );
  const json::value body = answer.json();
  int num_ends = 0;
  for (const json::value& id : body.at("prompt_token_ids").as_array()) {
    num_ends += id.as_int64() == *tokenizer_->special_id("<|end|>") ? 1 : 0;
  }
  EXPECT_EQ(num_ends, 1);
}

TEST_F(ChatTemplateTest, SaysWhyTheTemplateRefuses) {
  const HttpClient::Response answer = post(
      R"({"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]})"
  );
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(
      answer.body,
      R"({"error":{"message":"The model's chat template (m.gguf) does not take this conversation: )"
      R"(line 1: No system role","type":"invalid_request_error","param":"messages","code":null}})"
  );
}

TEST_F(ChatTemplateTest, RefusesToPromiseACall) {
  const HttpClient::Response answer =
      post(R"({"messages":[{"role":"user","content":"Hi"}],"tool_choice":"required",)"
           R"("tools":[{"type":"function","function":{"name":"f"}}]})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.json().at("error").at("param").as_string(), "tool_choice");
}

TEST_F(ChatTemplateTest, AnswersWithThinkingAndCalls) {
  say("<think>\nhm\n</think>\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": "
      "1}}\n</tool_call><|end|>");
  const std::string body = R"({"messages":[{"role":"user","content":"Hi"}],)"
                           R"("tools":[{"type":"function","function":{"name":"f"}}])";
  for (const char* streams : {"}", R"(,"stream":true})"}) {
    const std::vector<ClientChoice> choices = read_chat_answer(post(body + streams));
    ASSERT_EQ(choices.size(), 1U);
    EXPECT_EQ(choices[0].reasoning, "hm");
    EXPECT_EQ(choices[0].content, "");
    EXPECT_EQ(choices[0].finish_reason, "tool_calls");
    ASSERT_EQ(choices[0].calls.size(), 1U);
    EXPECT_EQ(choices[0].calls[0].name, "f");
    EXPECT_EQ(choices[0].calls[0].arguments, R"({"a": 1})");
  }
}

TEST_F(ChatTemplateTest, TakesDocuments) {
  EXPECT_EQ(
      prompt(R"(,"documents":[{"title":"t"}])"), "<|start|>user<|message|><|end|>Hi<|end|></think>"
  );
}

}  // namespace
}  // namespace rapt
