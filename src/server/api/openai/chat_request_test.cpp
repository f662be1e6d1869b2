#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/openai/chat_request_internal.h"

namespace rapt::openai {
namespace {

Result<ChatCompletionRequest> parse(const std::string& text) {
  return parse_chat_request(parse_json(text, "the test").value());
}

ChatCompletionRequest parsed(const std::string& more) {
  Result<ChatCompletionRequest> request =
      parse(R"({"messages":[{"role":"user","content":"hi"}])" + more + "}");
  EXPECT_TRUE(request) << request.error().message;
  return request ? std::move(request).value() : ChatCompletionRequest();
}

ChatMessage message(const std::string& text) {
  Result<ChatMessage> message =
      parse_chat_message(parse_json(text, "the test").value(), "messages[0].");
  EXPECT_TRUE(message) << message.error().message;
  return message ? std::move(message).value() : ChatMessage();
}

TEST(ChatRequest, DefaultsAreThoseOfTheApi) {
  const ChatCompletionRequest request = parsed("");
  EXPECT_EQ(request.params.sampling.temperature, 1.0F);
  EXPECT_EQ(request.params.sampling.top_p, 1.0F);
  EXPECT_EQ(request.params.sampling.top_k, 0);
  EXPECT_EQ(request.params.sampling.repetition_penalty, 1.0F);
  EXPECT_EQ(request.params.sampling.num_logprobs, std::nullopt);
  EXPECT_EQ(request.params.seed, std::nullopt);
  EXPECT_EQ(request.params.max_tokens, std::nullopt);
  EXPECT_EQ(request.params.num_choices, 1);
  EXPECT_FALSE(request.params.stream);
  EXPECT_TRUE(request.params.skip_special_tokens);
  EXPECT_TRUE(request.include_reasoning);
  EXPECT_EQ(request.options.reasoning_effort, "medium");
  EXPECT_EQ(request.options.conversation_date, std::nullopt);
}

TEST(ChatRequest, TakesTheServersSamplingWhereTheRequestIsSilent) {
  const SamplingParams defaults = {
      .temperature = 0.2F, .top_p = 0.9F, .top_k = 20, .min_p = 0.1F, .repetition_penalty = 1.2F};
  const auto sampling_of = [&](const std::string& more) {
    const std::string body = R"({"messages":[{"role":"user","content":"hi"}])" + more + "}";
    return parse_chat_request(parse_json(body, "the test").value(), defaults)
        .value()
        .params.sampling;
  };
  const SamplingParams silent = sampling_of("");
  EXPECT_EQ(silent.temperature, 0.2F);
  EXPECT_EQ(silent.top_p, 0.9F);
  EXPECT_EQ(silent.top_k, 20);
  EXPECT_EQ(silent.min_p, 0.1F);
  EXPECT_EQ(silent.repetition_penalty, 1.2F);
  EXPECT_EQ(silent.presence_penalty, 0.0F);
  const SamplingParams spoken =
      sampling_of(R"(,"temperature":1,"top_p":1,"top_k":0,"min_p":0,"repetition_penalty":1)");
  EXPECT_EQ(spoken.temperature, 1.0F);
  EXPECT_EQ(spoken.top_p, 1.0F);
  EXPECT_EQ(spoken.top_k, 0);
  EXPECT_EQ(spoken.min_p, 0.0F);
  EXPECT_EQ(spoken.repetition_penalty, 1.0F);
  EXPECT_EQ(sampling_of(R"(,"temperature":null)").temperature, 0.2F);
}

TEST(ChatRequest, ReadsSamplingFields) {
  const ChatCompletionRequest request = parsed(
      R"(,"temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.1,"presence_penalty":-1,)"
      R"("frequency_penalty":2,"repetition_penalty":1.1,"seed":-3,"logit_bias":{"7":-100,"9":2.5},)"
      R"("n":3,"min_tokens":2,"ignore_eos":true,"stop_token_ids":[1,2])"
  );
  const SamplingParams& sampling = request.params.sampling;
  EXPECT_EQ(sampling.temperature, 0.5F);
  EXPECT_EQ(sampling.top_p, 0.9F);
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_EQ(sampling.min_p, 0.1F);
  EXPECT_EQ(sampling.presence_penalty, -1.0F);
  EXPECT_EQ(sampling.frequency_penalty, 2.0F);
  EXPECT_EQ(sampling.repetition_penalty, 1.1F);
  EXPECT_EQ(request.params.seed, static_cast<std::uint64_t>(-3));
  ASSERT_EQ(sampling.logit_bias.size(), 2U);
  EXPECT_EQ(sampling.logit_bias[0], (std::pair<TokenId, float>(7, -100.0F)));
  EXPECT_EQ(request.params.num_choices, 3);
  EXPECT_EQ(request.params.min_tokens, 2);
  EXPECT_TRUE(request.params.ignore_eos);
  EXPECT_THAT(request.params.stop_token_ids, ::testing::ElementsAre(1, 2));
}

TEST(ChatRequest, TinyTemperaturesAreGreedyOrHeldAway) {
  EXPECT_EQ(parsed(R"(,"temperature":0)").params.sampling.temperature, 0.0F);
  EXPECT_EQ(parsed(R"(,"temperature":1e-40)").params.sampling.temperature, 0.0F);
  EXPECT_EQ(parsed(R"(,"temperature":0.001)").params.sampling.temperature, 0.01F);
}

TEST(ChatRequest, TopKBelowOneIsOff) {
  EXPECT_EQ(parsed(R"(,"top_k":-1)").params.sampling.top_k, 0);
  EXPECT_EQ(parsed(R"(,"top_k":0)").params.sampling.top_k, 0);
}

TEST(ChatRequest, NewTokenLimitWinsOverTheOldName) {
  EXPECT_EQ(parsed(R"(,"max_tokens":5)").params.max_tokens, 5);
  EXPECT_EQ(parsed(R"(,"max_tokens":5,"max_completion_tokens":6)").params.max_tokens, 6);
  EXPECT_EQ(parsed(R"(,"max_tokens":99999999999999)").params.max_tokens, 1 << 30);
}

TEST(ChatRequest, StopMayBeOneStringOrSeveral) {
  EXPECT_THAT(parsed(R"(,"stop":"x")").params.stop_strings, ::testing::ElementsAre("x"));
  EXPECT_THAT(parsed(R"(,"stop":["x","y"])").params.stop_strings, ::testing::ElementsAre("x", "y"));
  EXPECT_TRUE(parsed(R"(,"stop":null)").params.stop_strings.empty());
  EXPECT_TRUE(parsed(R"(,"stop":[])").params.stop_strings.empty());
}

TEST(ChatRequest, LogprobsNeedTheSwitch) {
  EXPECT_EQ(parsed(R"(,"logprobs":true)").params.sampling.num_logprobs, 0);
  EXPECT_EQ(parsed(R"(,"logprobs":true,"top_logprobs":5)").params.sampling.num_logprobs, 5);
  EXPECT_EQ(
      parsed(R"(,"logprobs":false,"top_logprobs":0)").params.sampling.num_logprobs, std::nullopt
  );
}

TEST(ChatRequest, EffortsBelowLowBecomeLow) {
  for (const char* effort : {"none", "minimal", "low"}) {
    EXPECT_EQ(
        parsed(R"(,"reasoning_effort":")" + std::string(effort) + "\"").options.reasoning_effort,
        "low"
    );
  }
  EXPECT_EQ(parsed(R"(,"reasoning_effort":"high")").options.reasoning_effort, "high");
}

TEST(ChatRequest, TemplateArgumentsReachTheFormat) {
  const ChatCompletionRequest request = parsed(
      R"(,"chat_template_kwargs":{"reasoning_effort":"high","conversation_date":"2024-02-29",)"
      R"("model_identity":"You are Rapt.","enable_thinking":true})"
  );
  EXPECT_EQ(request.options.reasoning_effort, "high");
  EXPECT_EQ(request.options.conversation_date, "2024-02-29");
  EXPECT_EQ(request.options.model_identity, "You are Rapt.");
}

TEST(ChatRequest, StreamOptions) {
  const ChatCompletionRequest request =
      parsed(R"(,"stream":true,"stream_options":{"include_usage":true,"other":1})");
  EXPECT_TRUE(request.params.include_usage);
  EXPECT_FALSE(request.params.continuous_usage_stats);
}

TEST(ChatRequest, ReadsTools) {
  const ChatCompletionRequest request = parsed(
      R"(,"tools":[{"type":"function","function":{"name":"f","description":"d",)"
      R"("parameters":{"type":"object"},"strict":true}},{"function":{"name":"g","parameters":null}}],)"
      R"("parallel_tool_calls":false)"
  );
  const std::vector<ToolDeclaration>& tools = request.options.tools;
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools[0].name, "f");
  EXPECT_EQ(tools[0].description, "d");
  EXPECT_EQ(to_json_text(tools[0].parameters.value()), R"({"type":"object"})");
  EXPECT_EQ(tools[1].name, "g");
  EXPECT_EQ(tools[1].description, std::nullopt);
  EXPECT_EQ(tools[1].parameters, std::nullopt);
  EXPECT_EQ(request.options.tool_choice.kind, ToolChoice::Kind::kAuto);
}

TEST(ChatRequest, ToolsThatAreNoFunctionsAreLeftOutAndTold) {
  const ChatCompletionRequest request =
      parsed(R"(,"tools":[{"type":"web_search"},{"type":"function","function":{"name":"f"}},)"
             R"({"type":"custom","custom":{"name":"patch"}}],"another":1)");
  ASSERT_EQ(request.options.tools.size(), 1U);
  EXPECT_THAT(request.tool_places, ::testing::ElementsAre(1));
  EXPECT_THAT(
      request.ignored_fields, ::testing::ElementsAre("tools.web_search", "tools.custom", "another")
  );
}

TEST(ChatRequest, ReadsTheToolChoice) {
  const std::string tools = R"(,"tools":[{"type":"function","function":{"name":"f"}}])";
  const auto choice = [&](const std::string& text) {
    return parsed(tools + R"(,"tool_choice":)" + text).options.tool_choice;
  };
  EXPECT_EQ(choice("null").kind, ToolChoice::Kind::kAuto);
  EXPECT_EQ(choice("\"auto\"").kind, ToolChoice::Kind::kAuto);
  EXPECT_EQ(choice("\"none\"").kind, ToolChoice::Kind::kNone);
  EXPECT_EQ(choice("\"required\"").kind, ToolChoice::Kind::kRequired);
  const ToolChoice named = choice(R"({"type":"function","function":{"name":"f"}})");
  EXPECT_EQ(named.kind, ToolChoice::Kind::kNamed);
  EXPECT_EQ(named.name, "f");
}

TEST(ChatRequest, OldToolFieldsMayAskForNothing) {
  parsed(R"(,"tools":[],"functions":[],"function_call":"none")");
  parsed(R"(,"tools":null,"tool_choice":"auto","function_call":null)");
}

TEST(ChatRequest, UnknownFieldsAreTold) {
  const ChatCompletionRequest request = parsed(R"(,"user":"me","new_thing":{"a":1})");
  EXPECT_THAT(request.ignored_fields, ::testing::ElementsAre("new_thing"));
}

TEST(ChatRequest, UnsupportedFieldsMayAskForNothing) {
  parsed(R"(,"response_format":{"type":"text"},"bad_words":[],"use_beam_search":false,)"
         R"("guided_regex":"","modalities":["text"],"add_generation_prompt":true)");
}

TEST(ChatMessage, TextPartsAreJoined) {
  const ChatMessage read =
      message(R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"
      );
  EXPECT_EQ(read.content, "ab");
  EXPECT_EQ(read.role, ChatRole::kUser);
}

TEST(ChatMessage, EveryRoleIsKnown) {
  EXPECT_EQ(message(R"({"role":"system","content":""})").role, ChatRole::kSystem);
  EXPECT_EQ(message(R"({"role":"developer","content":"","name":"n"})").name, "n");
  EXPECT_EQ(message(R"({"role":"assistant","content":""})").role, ChatRole::kAssistant);
}

TEST(ChatMessage, ReasoningComesBackUnderBothNames) {
  EXPECT_EQ(message(R"({"role":"assistant","content":"x","reasoning":"r"})").reasoning, "r");
  EXPECT_EQ(
      message(R"({"role":"assistant","content":"x","reasoning_content":"r"})").reasoning, "r"
  );
  EXPECT_EQ(message(R"({"role":"assistant","reasoning":"r"})").content, "");
  EXPECT_EQ(message(R"({"role":"assistant","content":"x","thinking":"r"})").reasoning, "r");
  EXPECT_EQ(message(R"({"role":"user","content":"x","reasoning":"r"})").reasoning, std::nullopt);
}

TEST(ChatMessage, CallsComeBack) {
  const ChatMessage read = message(
      R"({"role":"assistant","content":null,"refusal":null,"function_call":null,"tool_calls":[)"
      R"({"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},)"
      R"({"function":{"name":"g","arguments":{"b":[2]}}},{"function":{"name":"h"}}]})"
  );
  ASSERT_EQ(read.tool_calls.size(), 3U);
  EXPECT_EQ(read.tool_calls[0].id, "call_1");
  EXPECT_EQ(read.tool_calls[0].name, "f");
  EXPECT_EQ(read.tool_calls[0].arguments, R"({"a":1})");
  EXPECT_EQ(read.tool_calls[1].id, "");
  EXPECT_EQ(read.tool_calls[1].arguments, R"({"b":[2]})");
  EXPECT_EQ(read.tool_calls[2].arguments, "{}");
  EXPECT_EQ(message(R"({"role":"assistant","tool_calls":null,"content":"x"})").content, "x");
}

TEST(ChatMessage, ResultsMayBeTextOrParts) {
  const ChatMessage text = message(R"({"role":"tool","tool_call_id":"call_1","content":"12"})");
  EXPECT_EQ(text.role, ChatRole::kTool);
  EXPECT_EQ(text.tool_call_id, "call_1");
  EXPECT_EQ(text.content, "12");
  const ChatMessage parts =
      message(R"({"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"1"},)"
              R"({"type":"text","text":"2"}]})");
  EXPECT_EQ(parts.content, "12");
}

TEST(ChatMessage, SaysThatContentMayNotBeNull) {
  for (const std::string role : {"system", "user", "tool"}) {
    const Result<ChatMessage> read = parse_chat_message(
        parse_json(R"({"role":")" + role + R"(","content":null})", "").value(), "messages[4]."
    );
    ASSERT_FALSE(read) << role;
    EXPECT_EQ(read.error().param, "messages[4].content");
    EXPECT_EQ(
        read.error().message,
        "messages[4].content must be a string or an array of parts; only an assistant's may be "
        "null."
    );
  }
}

TEST(ChatMessage, PartErrorsNameThePart) {
  const Result<ChatMessage> read = parse_chat_message(
      parse_json(
          R"({"role":"user","content":[{"type":"text","text":""},{"type":"image_url"}]})", ""
      )
          .value(),
      "messages[4]."
  );
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().param, "messages[4].content[1].type");
}

}  // namespace
}  // namespace rapt::openai
