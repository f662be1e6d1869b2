// Tools, malformed output and the prompt's text through the real server and the real Harmony
// format.

#include <gmock/gmock.h>

#include "server/testing/harmony_server_internal.h"

namespace rapt {
namespace {

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kTools =
    R"("tools":[{"type":"web_search"},{"type":"function","function":{"name":"get_weather",)"
    R"("description":"Tells the weather.","parameters":{"type":"object","properties":)"
    R"({"city":{"type":"string"}},"required":["city"]}}},)"
    R"({"type":"function","function":{"name":"add"}}])";

const std::string kThought = "<|channel|>analysis<|message|>Look it up.<|end|><|start|>assistant";
const std::string kWeatherCall =
    "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    "{\"city\":\"Oslo\"}<|call|>";
const std::string kAnswer = "<|channel|>final<|message|>It is cold.<|return|>";

class ChatToolsTest : public HarmonyServerTest {
 protected:
  static std::string body(const std::string& more) {
    return R"({"messages":[{"role":"user","content":"Weather in Oslo?"}],)" + more + "}";
  }

  HttpClient::Response post(const std::string& more, const std::string& path = kChat) const {
    return client().post(path, body(more));
  }

  ClientChoice ask(const std::string& more = kTools) const {
    const std::vector<ClientChoice> choices = read_chat_answer(post(more));
    EXPECT_EQ(choices.size(), 1U);
    return choices.empty() ? ClientChoice() : choices[0];
  }

  double metric(const std::string& line_begin) const {
    const std::string text = "\n" + client().get("/metrics").body;
    const std::size_t begin = text.find("\n" + line_begin);
    EXPECT_NE(begin, std::string::npos) << line_begin;
    return begin == std::string::npos ? -1.0 : std::stod(text.substr(text.find(' ', begin)));
  }
};

TEST_F(ChatToolsTest, WholeAnswerHasOpenAisShape) {
  say(kThought + kWeatherCall);
  const json::value answer = post(kTools).json();
  json::object choice = answer.at("choices").at(0).as_object();
  json::value& id = choice.at("message").at("tool_calls").at(0).at("id");
  EXPECT_THAT(std::string(id.as_string()), ::testing::MatchesRegex("call_[0-9A-Za-z]{24}"));
  id = "call_X";
  EXPECT_EQ(
      to_json_text(choice),
      R"({"index":0,"message":{"role":"assistant","content":null,"refusal":null,)"
      R"("reasoning":"Look it up.","reasoning_content":"Look it up.","tool_calls":[{"id":"call_X",)"
      R"("type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]},)"
      R"("logprobs":null,"finish_reason":"tool_calls","stop_reason":null})"
  );
}

TEST_F(ChatToolsTest, StreamedEqualsWholeForSeveralChoices) {
  const std::vector<std::string> outputs = {
      kThought + kWeatherCall,
      kAnswer,
      "<|channel|>commentary<|message|>Both.<|end|><|start|>assistant<|channel|>commentary "
      "to=functions.add<|message|>{}<|end|><|start|>assistant" +
          kWeatherCall,
  };
  engine.set_script([&](const Request&, int choice) { return ids(outputs[choice]); });
  const std::string more = std::string(kTools) + R"(,"n":3)";
  std::vector<ClientChoice> whole = read_chat_answer(post(more));
  std::vector<ClientChoice> streamed = read_chat_answer(post(more + R"(,"stream":true)"));
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(whole[0].finish_reason, "tool_calls");
  EXPECT_EQ(whole[1].finish_reason, "stop");
  ASSERT_EQ(whole[2].calls.size(), 2U);
  EXPECT_EQ(whole[2].calls[0].name, "add");
  EXPECT_EQ(whole[2].content, "Both.");
  std::vector<std::string> call_ids;
  for (std::vector<ClientChoice>* choices : {&whole, &streamed}) {
    for (ClientChoice& choice : *choices) {
      for (ClientChoice::Call& call : choice.calls) {
        EXPECT_THAT(call_ids, ::testing::Not(::testing::Contains(call.id)));
        call_ids.push_back(std::exchange(call.id, ""));
      }
    }
  }
  EXPECT_EQ(call_ids.size(), 6U);
  EXPECT_EQ(whole, streamed);
}

TEST_F(ChatToolsTest, ArgumentsAreStreamedAsTheyCome) {
  say(kWeatherCall);
  const HttpClient::Response response = post(std::string(kTools) + R"(,"stream":true)");
  int num_stretches = 0;
  for (const std::string& event : response.events()) {
    num_stretches += event.find(R"("tool_calls":[{"index":0,"function")") != std::string::npos;
  }
  // The engine may be faster than the connection, but a call never waits for its end to begin.
  EXPECT_GE(num_stretches, 1);
  EXPECT_EQ(read_chat_answer(response)[0].calls[0].arguments, R"({"city":"Oslo"})");
}

TEST_F(ChatToolsTest, TheReasonFollowsWhatWasReturned) {
  say(kWeatherCall);
  const ClientChoice none = ask(std::string(kTools) + R"(,"tool_choice":"none")");
  EXPECT_EQ(none.finish_reason, "stop");
  EXPECT_TRUE(none.calls.empty());
  EXPECT_EQ(none.content, R"({"city":"Oslo"})");
  const std::string begin = kWeatherCall.substr(0, kWeatherCall.find('{') + 2);
  const std::string limit = std::to_string(ids(begin).size());
  const ClientChoice cut = ask(std::string(kTools) + R"(,"max_tokens":)" + limit);
  EXPECT_EQ(cut.finish_reason, "length");
  ASSERT_EQ(cut.calls.size(), 1U);
  EXPECT_EQ(cut.calls[0].arguments, R"({")");
}

TEST_F(ChatToolsTest, RequiredForcesACall) {
  // Wants to answer at once, and may not.
  say(kAnswer + "{}<|call|>");
  const ClientChoice choice =
      ask(std::string(kTools) + R"(,"tool_choice":"required","max_tokens":60)");
  ASSERT_GE(choice.calls.size(), 1U);
  EXPECT_THAT(choice.calls[0].name, ::testing::AnyOf("get_weather", "add"));
}

TEST_F(ChatToolsTest, NamedForcesThatCall) {
  say("{\"a\":1}<|call|>");
  const ClientChoice choice =
      ask(std::string(kTools) +
          R"(,"tool_choice":{"type":"function","function":{"name":"add"}},"max_tokens":60)");
  ASSERT_GE(choice.calls.size(), 1U);
  EXPECT_EQ(choice.calls[0].name, "add");
}

TEST_F(ChatToolsTest, StopStringsDoNotLookAtArguments) {
  say(kWeatherCall);
  const ClientChoice choice = ask(std::string(kTools) + R"(,"stop":"Oslo")");
  ASSERT_EQ(choice.calls.size(), 1U);
  EXPECT_EQ(choice.calls[0].arguments, R"({"city":"Oslo"})");
}

TEST_F(ChatToolsTest, ErrorsNameFieldsAsTheClientCountsThem) {
  const auto param_of = [this](const std::string& text) {
    const HttpClient::Response response = client().post(kChat, text);
    EXPECT_EQ(response.status, 400) << response.body;
    return response.json().at("error").at("param");
  };
  EXPECT_EQ(
      param_of(body(R"("tools":[{"type":"x"},{"function":{"name":"a b"}}])")),
      "tools[1].function.name"
  );
  EXPECT_EQ(
      param_of(body(R"("tools":[{"function":{"name":"a"}},{"type":"x"},{"function":{"name":"a"}}])")
      ),
      "tools[2].function.name"
  );
  EXPECT_EQ(
      param_of(R"({"messages":[{"role":"user","content":"x"},{"role":"tool","content":"y",)"
               R"("tool_call_id":"call_9"}]})"),
      "messages[1].tool_call_id"
  );
}

TEST_F(ChatToolsTest, ResultsAreRenderedToTheirCalls) {
  const std::string conversation =
      R"({"messages":[{"role":"user","content":"Weather?"},{"role":"assistant","content":null,)"
      R"("reasoning":"Look.","tool_calls":[{"id":"call_1","type":"function","function":)"
      R"({"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]},{"role":"tool",)"
      R"("tool_call_id":"call_1","content":[{"type":"text","text":"4 C"}]}],)";
  const HttpClient::Response response =
      client().post("/v1/chat/completions/render", conversation + kTools + "}");
  ASSERT_EQ(response.status, 200) << response.body;
  const json::value answer = response.json();
  EXPECT_EQ(answer.at("object"), "chat.completion.render");
  EXPECT_EQ(answer.at("model"), "demo");
  std::vector<TokenId> tokens;
  for (const json::value& id : answer.at("prompt_token_ids").as_array()) {
    tokens.push_back(static_cast<TokenId>(id.as_int64()));
  }
  // Special tokens are marked here instead of spelled.
  EXPECT_THAT(
      std::string(answer.at("prompt").as_string()),
      ::testing::EndsWith("\x01"
                          "functions.get_weather to=assistant\x01"
                          "commentary\x01"
                          "4 C\x01"
                          "\x01"
                          "assistant")
  );
  EXPECT_EQ(engine.num_submitted(), 0);
  say(kAnswer);
  const ClientChoice choice =
      read_chat_answer(client().post(kChat, conversation + kTools + "}")).at(0);
  EXPECT_EQ(choice.content, "It is cold.");
  EXPECT_EQ(engine.last_request().prompt, tokens);
}

TEST_F(ChatToolsTest, TextGoesToIdsAndBack) {
  const json::value tokenized =
      client().post("/tokenize", R"({"prompt":"Hello wörld","return_token_strs":true})").json();
  const json::array& tokens = tokenized.at("tokens").as_array();
  EXPECT_EQ(tokenized.at("count"), tokens.size());
  EXPECT_EQ(tokenized.at("max_model_len"), kMaxModelLen);
  EXPECT_EQ(tokenized.at("token_strs").as_array().size(), tokens.size());
  EXPECT_EQ(tokenized.at("token_strs").at(0), "Hello");
  const std::string back = to_json_text(json::object{{"tokens", tokens}});
  EXPECT_EQ(client().post("/detokenize", back).body, R"({"prompt":"Hello wörld"})");
}

TEST_F(ChatToolsTest, ConversationsGoToTheIdsOfTheirPrompt) {
  const json::value tokenized = post(kTools, "/tokenize").json();
  const json::value rendered = post(kTools, "/v1/chat/completions/render").json();
  EXPECT_EQ(tokenized.at("tokens"), rendered.at("prompt_token_ids"));
  EXPECT_TRUE(tokenized.at("token_strs").is_null());
}

TEST_F(ChatToolsTest, RepairsAndCallsAreCounted) {
  say("<|channel|>final to=functions.get_weather<|message|>{}<|call|>");
  EXPECT_EQ(ask().calls.size(), 1U);
  const std::string labels = R"({engine="0",kind="call_channel",model_name="demo"})";
  EXPECT_EQ(metric("rapt:harmony_repairs_total" + labels), 1.0);
  EXPECT_EQ(metric("rapt:tool_calls_total"), 1.0);
  EXPECT_EQ(
      metric(R"(rapt:ignored_fields_total{engine="0",field="tools.web_search",model_name="demo"})"),
      1.0
  );
}

TEST_F(ChatToolsTest, WhatIsHeldBackComesAtTheEnd) {
  std::vector<TokenId> output = ids("<|channel|>final<|message|>A\xF0\x92\x80\x80");
  output.pop_back();  // the character's last part
  engine.set_script([&](const Request&, int) { return output; });
  const ClientChoice whole = ask();
  EXPECT_EQ(whole.content, "A\xEF\xBF\xBD");
  EXPECT_EQ(ask(std::string(kTools) + R"(,"stream":true)"), whole);
}

struct Malformed {
  const char* what;
  std::string output;
  std::string content;
  std::string reasoning = "";
  int num_calls = 0;
};

// Output that has broken other servers. Each is an answer here, streamed and not, and says all of
// it.
TEST_F(ChatToolsTest, MalformedOutputIsAnswered) {
  const std::vector<Malformed> cases = {
      {"no header at all", "Hello there.<|return|>", "Hello there."},
      {"a bare final message", "<|channel|>final<|message|>Yes<|return|>", "Yes"},
      {"words left in a header", "<|channel|>final extra words<|message|>Yes<|return|>", "Yes"},
      {"the channel's name is wrong", "<|channel|>comment<|message|>Yes<|return|>", "Yes"},
      {"stray control tokens",
       "<|constrain|><|channel|>final<|message|>A<|reserved_200013|>B<|return|>",
       "AB"},
      {"a second message without its begin",
       "<|channel|>analysis<|message|>T<|end|><|channel|>final<|message|>A<|return|>",
       "A",
       "T"},
      {"seven messages",
       "<|channel|>analysis<|message|>1<|end|><|start|>assistant<|channel|>analysis<|message|>2"
       "<|end|><|start|>assistant<|channel|>commentary<|message|>3<|end|><|start|>assistant"
       "<|channel|>analysis<|message|>4<|end|><|start|>assistant<|channel|>commentary<|message|>5"
       "<|end|><|start|>assistant<|channel|>final<|message|>6<|end|><|start|>assistant"
       "<|channel|>final<|message|>7<|return|>",
       "3\n5\n6\n7",
       "1\n2\n4"},
      {"commentary to nobody", "<|channel|>commentary<|message|>Hm<|end|>", "Hm"},
      {"only thinking", "<|channel|>analysis<|message|>Hm", "", "Hm"},
      {"the recipient before the channel",
       " to=functions.add<|channel|>commentary json<|message|>{}<|call|>",
       "",
       "",
       1},
      {"a control token in a name",
       "<|channel|>commentary to=<|constrain|>functions.add json<|message|>{}<|call|>",
       "",
       "",
       1},
      {"no namespace", "<|channel|>commentary to=add<|message|>{}<|call|>", "", "", 1},
      {"a call on the thinking channel",
       "<|channel|>analysis to=functions.add<|message|>{}<|call|>",
       "",
       "",
       1},
      {"a tool that nobody declared",
       "<|channel|>commentary to=functions.nope<|message|>{\"a\":1}<|call|>",
       "{\"a\":1}"},
      {"a built-in tool that is off",
       "<|channel|>analysis to=python code<|message|>print(1)<|call|>",
       "print(1)"},
      {"arguments that lack a brace",
       "<|channel|>commentary to=functions.add<|message|>{\"a\":1<|call|>",
       "",
       "",
       1},
      {"several calls in a turn",
       "<|channel|>commentary to=functions.add<|message|>{}<|end|><|start|>assistant"
       "<|channel|>commentary to=functions.get_weather<|message|>{}<|call|>",
       "",
       "",
       2},
      {"nothing", "", ""},
      {"an end at once", "<|return|>", ""},
      {"begins and nothing else", "<|start|><|start|><|start|>assistant", ""},
  };
  for (const Malformed& bad : cases) {
    SCOPED_TRACE(bad.what);
    say(bad.output);
    const ClientChoice whole = ask();
    EXPECT_EQ(whole.content, bad.content);
    EXPECT_EQ(whole.reasoning, bad.reasoning);
    EXPECT_EQ(static_cast<int>(whole.calls.size()), bad.num_calls);
    const ClientChoice streamed = ask(std::string(kTools) + R"(,"stream":true)");
    EXPECT_EQ(streamed.content, whole.content);
    EXPECT_EQ(streamed.reasoning, whole.reasoning);
    EXPECT_EQ(streamed.calls.size(), whole.calls.size());
    EXPECT_EQ(streamed.finish_reason, whole.finish_reason);
  }
}

}  // namespace
}  // namespace rapt
