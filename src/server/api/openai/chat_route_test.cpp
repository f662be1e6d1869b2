#include "server/testing/server_test_internal.h"

namespace rapt {
namespace {

constexpr const char* kRoute = "/v1/chat/completions";

class ChatRouteTest : public ServerTest {
 protected:
  HttpClient::Response post(const std::string& more = "") {
    HttpClient http = client();
    return http.post(kRoute, chat_body(more));
  }
};

TEST_F(ChatRouteTest, WholeAnswerHasOpenAisShape) {
  start();
  engine.set_reply(fake_chat_answer("hmm", "Hello"));
  const HttpClient::Response response = post();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("content-type"), "application/json");
  const json::value body = response.json();
  EXPECT_EQ(at(body, "object"), "chat.completion");
  EXPECT_EQ(at(body, "model"), "fake-model");
  EXPECT_TRUE(at(body, "created").is_int64());
  EXPECT_THAT(std::string(at(body, "id").as_string()), ::testing::StartsWith("chatcmpl-"));
  EXPECT_THAT(
      std::string(at(body, "system_fingerprint").as_string()), ::testing::StartsWith("fp_")
  );
  EXPECT_EQ(
      to_json_text(at(body, "choices")),
      R"([{"index":0,"message":{"role":"assistant","content":"Hello","refusal":null,)"
      R"("reasoning":"hmm","reasoning_content":"hmm"},"logprobs":null,"finish_reason":"stop",)"
      R"("stop_reason":null}])"
  );
  const int num_prompt = static_cast<int>(engine.last_request().prompt.size());
  EXPECT_EQ(
      to_json_text(at(body, "usage")),
      R"({"prompt_tokens":)" + std::to_string(num_prompt) +
          R"(,"completion_tokens":11,"total_tokens":)" + std::to_string(num_prompt + 11) +
          R"(,"prompt_tokens_details":{"cached_tokens":0},)"
          R"("completion_tokens_details":{"reasoning_tokens":4}})"
  );
}

TEST_F(ChatRouteTest, PromptComesFromTheFormat) {
  start();
  EXPECT_EQ(post(R"(,"reasoning_effort":"high")").status, 200);
  const Request request = engine.last_request();
  std::string text;
  for (const TokenId id : request.prompt) {
    text += tokenizer.token_bytes(id);
  }
  EXPECT_EQ(text, "2025-06-28,high,<|start|>user:hi<|end|><|start|>");
  EXPECT_THAT(request.stop.eos_token_ids, ::testing::Contains(FakeTokenizer::kEnd));
  EXPECT_THAT(request.client_id, ::testing::StartsWith("chatcmpl-"));
}

TEST_F(ChatRouteTest, WithoutAConfiguredDateTodayIsUsed) {
  config.conversation_date.reset();
  start();
  EXPECT_EQ(post().status, 200);
  const std::vector<TokenId> prompt = engine.last_request().prompt;
  const std::string date(prompt.begin(), prompt.begin() + 10);
  EXPECT_THAT(date, ::testing::MatchesRegex("20..-..-.."));
}

TEST_F(ChatRouteTest, StreamHasRoleDeltasFinishAndDone) {
  start();
  engine.set_reply(fake_chat_answer("h", "ab"));
  const HttpClient::Response response = post(R"(,"stream":true)");
  EXPECT_EQ(response.headers.at("content-type"), "text/event-stream; charset=utf-8");
  const std::vector<std::string> events = response.events();
  ASSERT_GE(events.size(), 4U);
  EXPECT_EQ(events.back(), "[DONE]");
  const json::value first = parse_json(events[0], "event").value();
  EXPECT_EQ(at(first, "object"), "chat.completion.chunk");
  EXPECT_EQ(
      to_json_text(at(first, "choices")),
      R"([{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,)"
      R"("finish_reason":null}])"
  );
  EXPECT_EQ(first.get_object().count("usage"), 0U);
  const json::value last = parse_json(events[events.size() - 2], "event").value();
  EXPECT_EQ(
      to_json_text(at(last, "choices")),
      R"([{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","stop_reason":null}])"
  );
}

TEST_F(ChatRouteTest, StreamedEqualsWhole) {
  start();
  engine.set_reply(fake_chat_answer("thinking \xC3\xA4", "answer \xE2\x82\xAC END more"));
  const std::string more = R"(,"stop":"END","n":2,"logprobs":true,"top_logprobs":2,)"
                           R"("return_token_ids":true)";
  const json::value whole = post(more).json();
  const std::vector<std::string> events = post(more + R"(,"stream":true)").events();
  std::string content[2];
  std::string reasoning[2];
  json::array logprobs[2];
  json::array token_ids[2];
  int num_finishes[2] = {0, 0};
  std::string id;
  for (const std::string& event : events) {
    if (event == "[DONE]") {
      continue;
    }
    const json::value chunk = parse_json(event, "event").value();
    id = id.empty() ? std::string(at(chunk, "id").as_string()) : id;
    EXPECT_EQ(at(chunk, "id"), json::value(id));
    const json::object choice = at(chunk, "choices/0").as_object();
    const std::int64_t index = choice.at("index").as_int64();
    const json::object& delta = choice.at("delta").as_object();
    if (const json::value* text = delta.if_contains("content")) {
      content[index] += std::string_view(text->as_string());
    }
    if (const json::value* text = delta.if_contains("reasoning")) {
      EXPECT_EQ(*text, delta.at("reasoning_content"));
      reasoning[index] += std::string_view(text->as_string());
    }
    if (choice.at("logprobs").is_object()) {
      for (const json::value& entry : choice.at("logprobs").at("content").as_array()) {
        logprobs[index].push_back(entry);
      }
    }
    if (const json::value* ids = choice.if_contains("token_ids")) {
      for (const json::value& token : ids->as_array()) {
        token_ids[index].push_back(token);
      }
    }
    if (!choice.at("finish_reason").is_null()) {
      ++num_finishes[index];
      EXPECT_EQ(choice.at("stop_reason"), "END");
    }
  }
  for (int index = 0; index < 2; ++index) {
    const std::string path = "choices/" + std::to_string(index) + "/";
    EXPECT_EQ(at(whole, path + "message/content"), json::value(content[index]));
    EXPECT_EQ(at(whole, path + "message/reasoning"), json::value(reasoning[index]));
    EXPECT_EQ(at(whole, path + "logprobs/content"), json::value(logprobs[index]));
    EXPECT_EQ(at(whole, path + "token_ids"), json::value(token_ids[index]));
    EXPECT_EQ(num_finishes[index], 1);
    EXPECT_EQ(content[index], "answer \xE2\x82\xAC ");
  }
  const std::vector<TokenId> prompt = engine.last_request().prompt;
  EXPECT_EQ(at(whole, "prompt_token_ids").as_array().size(), prompt.size());
}

TEST_F(ChatRouteTest, UsageComesLastAndIsNullBefore) {
  start();
  engine.set_reply(fake_chat_answer("h", "ab"));
  const std::vector<std::string> events =
      post(R"(,"stream":true,"stream_options":{"include_usage":true})").events();
  ASSERT_GE(events.size(), 3U);
  for (std::size_t i = 0; i + 2 < events.size(); ++i) {
    EXPECT_TRUE(at(parse_json(events[i], "event").value(), "usage").is_null());
  }
  const json::value usage = parse_json(events[events.size() - 2], "event").value();
  EXPECT_EQ(at(usage, "choices"), json::array());
  EXPECT_EQ(at(usage, "usage/completion_tokens"), 6);
}

TEST_F(ChatRouteTest, LogprobsHaveTokenBytesAndAlternatives) {
  start();
  engine.set_reply(fake_chat_answer("h", "a"));
  const json::value body = post(R"(,"logprobs":true,"top_logprobs":2)").json();
  EXPECT_EQ(
      to_json_text(at(body, "choices/0/logprobs")),
      R"({"content":[{"token":"a","logprob":-0.1,"bytes":[97],"top_logprobs":[)"
      R"({"token":"a","logprob":-0.1,"bytes":[97]},{"token":"b","logprob":-0.2,"bytes":[98]}]}],)"
      R"("refusal":null})"
  );
}

TEST_F(ChatRouteTest, ReasoningCanBeLeftOut) {
  start();
  engine.set_reply(fake_chat_answer("hmm", "Hello"));
  const json::value body = post(R"(,"include_reasoning":false)").json();
  EXPECT_TRUE(at(body, "choices/0/message/reasoning").is_null());
  EXPECT_EQ(at(body, "choices/0/message/content"), "Hello");
  EXPECT_EQ(at(body, "usage/completion_tokens_details/reasoning_tokens"), 4);
}

TEST_F(ChatRouteTest, ALimitEndsWithLength) {
  start();
  engine.set_reply(fake_chat_answer("hmm", "Hello"));
  const json::value body = post(R"(,"max_tokens":2)").json();
  EXPECT_EQ(at(body, "choices/0/finish_reason"), "length");
  EXPECT_EQ(at(body, "choices/0/message/content"), "");
  EXPECT_EQ(at(body, "choices/0/message/reasoning"), "h");
}

TEST_F(ChatRouteTest, WithoutALimitTheContextIsTheLimit) {
  start();
  EXPECT_EQ(post().status, 200);
  const Request request = engine.last_request();
  EXPECT_EQ(
      request.stop.max_tokens, engine.max_model_len() - static_cast<int>(request.prompt.size())
  );
}

TEST_F(ChatRouteTest, SeedsAreTakenOrDrawn) {
  start();
  post(R"(,"max_tokens":1,"seed":42)");
  EXPECT_EQ(engine.last_request().sampling.seed, 42U);
  post(R"(,"max_tokens":1)");
  const std::uint64_t first = engine.last_request().sampling.seed;
  post(R"(,"max_tokens":1)");
  EXPECT_NE(engine.last_request().sampling.seed, first);
}

TEST_F(ChatRouteTest, AnAliasAnswersUnderItsName) {
  start();
  EXPECT_EQ(at(post(R"(,"max_tokens":1,"model":"alias")").json(), "model"), "alias");
}

TEST_F(ChatRouteTest, AModelWithoutChatSaysSo) {
  Result<std::unique_ptr<Server>> started = Server::start(config, engine, &tokenizer, nullptr);
  ASSERT_TRUE(started);
  server = std::move(started).value();
  expect_error(post(), 400, "messages", nullptr);
}

}  // namespace
}  // namespace rapt
