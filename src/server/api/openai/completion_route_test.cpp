#include "server/testing/server_test_internal.h"

namespace rapt {
namespace {

class CompletionRouteTest : public ServerTest {
 protected:
  HttpClient::Response post(const std::string& body) {
    HttpClient http = client();
    return http.post("/v1/completions", body);
  }
};

TEST_F(CompletionRouteTest, WholeAnswerHasOpenAisShape) {
  start();
  engine.set_reply(fake_text_answer("yes"));
  const json::value body = post(text_body()).json();
  EXPECT_EQ(at(body, "object"), "text_completion");
  EXPECT_EQ(
      to_json_text(at(body, "choices")),
      R"([{"index":0,"text":"yes","logprobs":null,"finish_reason":"stop","stop_reason":null}])"
  );
  EXPECT_EQ(at(body, "usage/prompt_tokens"), 2);
  EXPECT_EQ(at(body, "usage/completion_tokens"), 4);
  EXPECT_EQ(engine.last_request().stop.max_tokens, 16);
}

TEST_F(CompletionRouteTest, TextPromptsMaySpellSpecialTokens) {
  start();
  EXPECT_EQ(post(R"({"prompt":"a<|start|>"})").status, 200);
  EXPECT_THAT(engine.last_request().prompt, ::testing::ElementsAre('a', FakeTokenizer::kStart));
}

TEST_F(CompletionRouteTest, TextPromptsBeginWithTheModelsBosOnce) {
  tokenizer.frame.begin = {FakeTokenizer::kStart};
  start();
  for (const char* body : {R"({"prompt":"a"})", R"({"prompt":"<|start|>a"})"}) {
    EXPECT_EQ(post(body).status, 200);
    EXPECT_THAT(engine.last_request().prompt, ::testing::ElementsAre(FakeTokenizer::kStart, 'a'));
  }
  EXPECT_EQ(post(R"({"prompt":[97]})").status, 200);
  EXPECT_THAT(engine.last_request().prompt, ::testing::ElementsAre('a')) << "ids are meant as sent";
  const auto tokens_of = [&](const std::string& body) {
    return to_json_text(at(client().post("/tokenize", body).json(), "tokens"));
  };
  EXPECT_EQ(tokens_of(R"({"prompt":"a"})"), "[257,97]");
  EXPECT_EQ(tokens_of(R"({"prompt":"a","add_special_tokens":false})"), "[97]");
}

TEST_F(CompletionRouteTest, ChoicesAreNumberedPromptAfterPrompt) {
  start();
  engine.set_reply(fake_text_answer("x"));
  const json::value body = post(R"({"prompt":[[97],[98,99]],"n":2,"echo":true})").json();
  ASSERT_EQ(at(body, "choices").as_array().size(), 4U);
  const char* texts[] = {"ax", "ax", "bcx", "bcx"};
  for (int index = 0; index < 4; ++index) {
    const std::string path = "choices/" + std::to_string(index) + "/";
    EXPECT_EQ(at(body, path + "index"), index);
    EXPECT_EQ(at(body, path + "text"), texts[index]);
  }
  EXPECT_EQ(at(body, "usage/prompt_tokens"), 3);
  EXPECT_EQ(at(body, "usage/completion_tokens"), 8);
}

TEST_F(CompletionRouteTest, StreamedEqualsWhole) {
  start();
  engine.set_reply(fake_text_answer("one \xE2\x82\xAC two"));
  const std::string more =
      R"(,"n":2,"logprobs":1,"return_token_ids":true,"max_tokens":8,"ignore_eos":true)";
  const json::value whole = post(text_body(more)).json();
  const std::vector<std::string> events = post(text_body(more + R"(,"stream":true)")).events();
  EXPECT_EQ(events.back(), "[DONE]");
  std::string text[2];
  json::array tokens[2];
  json::array token_ids[2];
  for (const std::string& event : events) {
    if (event == "[DONE]") {
      continue;
    }
    const json::object choice = at(parse_json(event, "event").value(), "choices/0").as_object();
    const std::int64_t index = choice.at("index").as_int64();
    text[index] += std::string_view(choice.at("text").as_string());
    if (choice.at("logprobs").is_object()) {
      for (const json::value& token : choice.at("logprobs").at("tokens").as_array()) {
        tokens[index].push_back(token);
      }
    }
    for (const json::value& token : choice.at("token_ids").as_array()) {
      token_ids[index].push_back(token);
    }
  }
  for (int index = 0; index < 2; ++index) {
    const std::string path = "choices/" + std::to_string(index) + "/";
    EXPECT_EQ(at(whole, path + "text"), json::value(text[index]));
    EXPECT_EQ(at(whole, path + "logprobs/tokens"), json::value(tokens[index]));
    EXPECT_EQ(at(whole, path + "token_ids"), json::value(token_ids[index]));
    EXPECT_EQ(at(whole, path + "finish_reason"), "length");
    EXPECT_EQ(at(whole, path + "prompt_token_ids"), (json::array{104, 105}));
  }
}

TEST_F(CompletionRouteTest, LogprobsHaveTheOldShape) {
  start();
  engine.set_reply({'a', 0xE2, FakeTokenizer::kEnd});
  const json::value body = post(text_body(R"(,"logprobs":2)")).json();
  EXPECT_EQ(
      to_json_text(at(body, "choices/0/logprobs")),
      R"({"tokens":["a","bytes:\\xe2","<|end|>"],"token_logprobs":[-0.1,-0.1,-0.1],)"
      R"("top_logprobs":[{"a":-0.1,"b":-0.2},{"bytes:\\xe2":-0.1,"bytes:\\xe3":-0.2},)"
      R"({"<|end|>":-0.1,"<|start|>":-0.2}],"text_offset":[0,1,1]})"
  );
}

TEST_F(CompletionRouteTest, StopReasonTellsStringIdOrNull) {
  start();
  engine.set_reply(fake_text_answer("abc"));
  const auto stop_reason = [&](const std::string& more) {
    return at(post(text_body(more)).json(), "choices/0/stop_reason");
  };
  EXPECT_TRUE(stop_reason("").is_null());
  EXPECT_EQ(stop_reason(R"(,"stop":["x","b"])"), "b");
  EXPECT_EQ(stop_reason(R"(,"stop_token_ids":[98])"), 98);
}

TEST_F(CompletionRouteTest, NoTokensAtAllIsAnAnswer) {
  start();
  const json::value body = post(text_body(R"(,"max_tokens":0,"echo":true)")).json();
  EXPECT_EQ(at(body, "choices/0/text"), "hi");
  EXPECT_EQ(at(body, "choices/0/finish_reason"), "length");
  EXPECT_EQ(at(body, "usage/completion_tokens"), 0);
}

TEST_F(CompletionRouteTest, WithoutATokenizerIdsWork) {
  Result<std::unique_ptr<Server>> started = Server::start(config, engine, nullptr, nullptr);
  ASSERT_TRUE(started);
  server = std::move(started).value();
  const json::value body =
      post(R"({"prompt":[1,2],"return_token_ids":true,"max_tokens":2,"logprobs":0})").json();
  EXPECT_EQ(at(body, "choices/0/token_ids"), (json::array{'o', 'k'}));
  EXPECT_EQ(at(body, "choices/0/logprobs/tokens/0"), "token_id:111");
  expect_error(post(text_body()), 400, "prompt", "unsupported_parameter");
  expect_error(post(R"({"prompt":[1],"stop":"x"})"), 400, "stop", "unsupported_parameter");
}

TEST_F(CompletionRouteTest, ContextOverflowHasItsCode) {
  start();
  expect_error(
      post(R"({"prompt":")" + std::string(5000, 'x') + "\"}"),
      400,
      "prompt",
      "context_length_exceeded"
  );
}

TEST_F(CompletionRouteTest, IgnoredFieldsAreCounted) {
  start();
  EXPECT_EQ(post(text_body(R"(,"odd_field":1)")).status, 200);
  HttpClient http = client();
  EXPECT_THAT(
      http.get("/metrics").body,
      ::testing::HasSubstr(
          R"(rapt:ignored_fields_total{engine="0",field="odd_field",model_name="fake-model"} 1)"
      )
  );
}

}  // namespace
}  // namespace rapt
