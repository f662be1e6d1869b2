#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/text_cases_internal.h"

namespace rapt {
namespace {

const ChatFormat& format() {
  static const std::unique_ptr<ChatFormat> made = *make_chat_format("harmony", test_tokenizer());
  return *made;
}

ChatOptions three_tools() {
  ChatOptions options;
  options.tools = {{"get_weather"}, {"f"}, {"python"}};
  return options;
}

struct Answer {
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;
  std::string repairs;  // names, with a blank behind each
};

Answer read(std::string_view stream, const ChatOptions& options = three_tools()) {
  const auto parser = format().make_parser(options, "chatcmpl-1/0");
  Answer answer;
  const auto add = [&answer](const ChatDelta& delta) {
    answer.reasoning += delta.reasoning;
    answer.content += delta.content;
    add_deltas(answer.calls, delta.tool_calls);
  };
  for (const TokenId id : test_tokenizer().encode_with_special(stream)) {
    add(parser->push(id));
  }
  add(parser->finish());
  EXPECT_EQ(parser->num_tool_calls(), static_cast<int>(answer.calls.size()));
  const RepairCounts counts = parser->repairs();
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    for (int i = 0; i < counts[kind]; ++i) {
      answer.repairs += std::string(kRepairKindNames[kind]) + " ";
    }
  }
  return answer;
}

std::string shown(const std::vector<ToolCall>& calls) {
  std::string text;
  for (const ToolCall& call : calls) {
    text += call.name + "(" + call.arguments + ")";
  }
  return text;
}

struct StreamCase {
  const char* stream;  // control tokens spelled out
  const char* reasoning;
  const char* content;
  const char* calls;
  const char* repairs;
};

void expect_all(std::span<const StreamCase> cases) {
  for (const StreamCase& item : cases) {
    const Answer answer = read(item.stream);
    EXPECT_EQ(answer.reasoning, item.reasoning) << item.stream;
    EXPECT_EQ(answer.content, item.content) << item.stream;
    EXPECT_EQ(shown(answer.calls), item.calls) << item.stream;
    EXPECT_EQ(answer.repairs, item.repairs) << item.stream;
  }
}

TEST(HarmonyToolCalls, AreReadInEveryFormThatTheModelWrites) {
  const StreamCase cases[] = {
      {" to=functions.f<|channel|>commentary json<|message|>{}<|call|>", "", "", "f({})", ""},
      {"<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\":1}<|call|>",
       "",
       "",
       "f({\"a\":1})",
       ""},
      {"<|channel|>commentary to=functions.f code<|message|>{}<|call|>", "", "", "f({})", ""},
      {"<|channel|>analysis to=functions.f<|message|>{}<|call|>", "", "", "f({})", ""},
      {"<|channel|>analysis<|message|>think<|end|><|start|>assistant<|channel|>commentary<|message|"
       ">I "
       "look.<|end|><|start|>assistant to=functions.get_weather<|channel|>commentary "
       "json<|message|>"
       "{}<|call|>",
       "think",
       "I look.",
       "get_weather({})",
       ""},
      {"<|channel|>commentary to=functions.use_python<|message|>{}<|call|>",
       "",
       "",
       "python({})",
       ""},
      {"<|channel|>commentary to=functions.f<|message|>{\"cut\": tr",
       "",
       "",
       "f({\"cut\": tr)",
       ""},
      {"<|channel|>commentary to=functions.f<|message|>", "", "", "f()", ""},
  };
  expect_all(cases);
}

TEST(HarmonyToolCalls, SurviveAMalformedHeader) {
  const StreamCase cases[] = {
      {"<|channel|>final to=functions.f<|message|>{}<|call|>", "", "", "f({})", "call_channel "},
      {" to=functions.f<|message|>{}<|call|>", "", "", "f({})", "channel call_channel "},
      {"<|channel|>commentary to=f<|message|>{}<|call|>", "", "", "f({})", "recipient "},
      {"<|channel|>commentary f<|message|>{}<|call|>", "", "", "f({})", "recipient "},
      {"<|channel|>commentary functions.f json<|message|>{}<|call|>",
       "",
       "",
       "f({})",
       "header_word recipient "},
      {"<|channel|>commentary to=<|constrain|>functions.f<|message|>{}<|call|>",
       "",
       "",
       "f({})",
       "recipient recipient "},
      {"<|channel|>commentary to=functions.f<|constrain|>json<|message|>{}<|call|>",
       "",
       "",
       "f({})",
       ""},
      {" to=functions.f<|channel|>commentary to=assistant<|message|>{}<|call|>",
       "",
       "",
       "f({})",
       "recipient "},
      {"<|channel|>commentary to=functions.f json and more<|message|>{}<|call|>",
       "",
       "",
       "f({})",
       "header_word "},
      {"<|channel|>commentary to=functions.f json{\"a\":1}<|call|>",
       "",
       "",
       "f({\"a\":1})",
       "missing_message "},
      {"<|channel|>commentary to=functions.f <|constrain|>json{\"a\":1}<|call|>",
       "",
       "",
       "f({\"a\":1})",
       "missing_message "},
      {"<|channel|>commentary to=functions.f{\"a\":1}<|call|>",
       "",
       "",
       "f({\"a\":1})",
       "missing_message "},
      {"<|channel|>commentary to=functions.f json<|call|>",
       "",
       "",
       "f()",
       "missing_message call_arguments "},
      {"<|channel|>analysis<|message|>a<|end|><|channel|>commentary "
       "to=functions.f<|message|>{}<|call|>",
       "a",
       "",
       "f({})",
       "missing_start "},
      {"<|channel|>analysis<|message|>a<|channel|>commentary to=functions.f<|message|>{}<|call|>",
       "a",
       "",
       "f({})",
       "missing_start missing_end "},
  };
  for (const StreamCase& item : cases) {
    const Answer answer = read(item.stream);
    EXPECT_EQ(answer.reasoning, item.reasoning) << item.stream;
    EXPECT_EQ(answer.content, item.content) << item.stream;
    EXPECT_EQ(shown(answer.calls), item.calls) << item.stream;
    EXPECT_FALSE(answer.repairs.empty() && item.repairs[0] != '\0') << item.stream;
    EXPECT_EQ(answer.repairs, item.repairs) << item.stream;
  }
}

TEST(HarmonyToolCalls, PassOnWhateverTheArgumentsAre) {
  const StreamCase cases[] = {
      {"<|channel|>commentary to=functions.f<|message|>{\"a\": 1<|call|>",
       "",
       "",
       "f({\"a\": 1)",
       "call_arguments "},
      {"<|channel|>commentary to=functions.f<|message|>ls -l<|call|>",
       "",
       "",
       "f(ls -l)",
       "call_arguments "},
      {"<|channel|>commentary to=functions.f<|message|><|call|>", "", "", "f()", "call_arguments "},
      {"<|channel|>commentary to=functions.f<|message|> {\"a\" :1}\n<|call|>",
       "",
       "",
       "f( {\"a\" :1}\n)",
       ""},
      {"<|channel|>commentary to=functions.f<|message|>{}<|end|>", "", "", "f({})", "call_end "},
      {"<|channel|>commentary to=functions.f<|message|>{}<|return|>", "", "", "f({})", "call_end "},
  };
  expect_all(cases);
}

TEST(HarmonyToolCalls, OfUndeclaredToolsAreVisibleText) {
  const StreamCase cases[] = {
      {"<|channel|>commentary to=functions.g<|message|>{}<|call|>",
       "",
       "{}",
       "",
       "undeclared_tool "},
      {"<|channel|>analysis to=python code<|message|>1+1<|call|>",
       "",
       "1+1",
       "",
       "undeclared_tool "},
      {"<|channel|>analysis to=browser.search code<|message|>{\"q\":1}<|call|>",
       "",
       "{\"q\":1}",
       "",
       "undeclared_tool "},
      {"<|channel|>commentary to=container.exec<|message|>{}<|call|>",
       "",
       "{}",
       "",
       "undeclared_tool "},
      {"<|channel|>commentary to=assistant<|message|>hi<|end|>", "", "hi", "", ""},
      {"<|channel|>analysis to=user<|message|>hm<|end|>", "hm", "", "", ""},
  };
  expect_all(cases);
  ChatOptions none = three_tools();
  none.tool_choice.kind = ToolChoice::Kind::kNone;
  const Answer answer = read("<|channel|>commentary to=functions.f<|message|>{}<|call|>", none);
  EXPECT_EQ(answer.content, "{}");
  EXPECT_TRUE(answer.calls.empty());
}

TEST(HarmonyToolCalls, AToolCalledJsonIsNoContentType) {
  ChatOptions options;
  options.tools = {{"json"}};
  EXPECT_EQ(read("<|channel|>final json<|message|>{}<|return|>", options).content, "{}");
  const char* call = "<|channel|>commentary to=functions.json json<|message|>{}<|call|>";
  EXPECT_EQ(shown(read(call, options).calls), "json({})");
}

TEST(HarmonyToolCalls, OfOneTurnCountUpwardsUnderIdsOfTheirOwn) {
  std::string stream;
  for (int i = 0; i < 4; ++i) {
    stream += "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|end|>";
  }
  const auto parser = format().make_parser(three_tools(), "chatcmpl-1/0");
  std::vector<ToolCallDelta> first_deltas;
  for (const TokenId id : test_tokenizer().encode_with_special(stream)) {
    for (const ToolCallDelta& delta : parser->push(id).tool_calls) {
      if (!delta.id.empty()) {
        EXPECT_EQ(delta.name, "f");
        first_deltas.push_back(delta);
      }
    }
  }
  std::set<std::string> ids;
  ASSERT_EQ(first_deltas.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(first_deltas[i].index, static_cast<int>(i));
    EXPECT_EQ(first_deltas[i].id.size(), 29U);
    EXPECT_TRUE(first_deltas[i].id.starts_with("call_"));
    ids.insert(first_deltas[i].id);
  }
  EXPECT_EQ(ids.size(), 4U);
  const auto id_of = [](std::string_view seed) {
    const auto other = format().make_parser(three_tools(), seed);
    std::vector<ToolCall> calls;
    for (const TokenId id :
         test_tokenizer().encode_with_special(" to=functions.f<|channel|>commentary<|message|>")) {
      add_deltas(calls, other->push(id).tool_calls);
    }
    return calls.at(0).id;
  };
  EXPECT_EQ(id_of("chatcmpl-1/0"), first_deltas[0].id) << "the same seed, the same ids";
  EXPECT_FALSE(ids.contains(id_of("chatcmpl-1/1")));
}

TEST(HarmonyToolCalls, StreamTheirArguments) {
  const auto parser = format().make_parser(three_tools(), "s");
  for (const TokenId id :
       test_tokenizer().encode_with_special("<|channel|>commentary to=functions.f <|constrain|>json"
       )) {
    EXPECT_TRUE(parser->push(id).empty());
  }
  const ChatDelta begin = parser->push(200008);
  ASSERT_EQ(begin.tool_calls.size(), 1U);
  EXPECT_EQ(begin.tool_calls[0].name, "f");
  EXPECT_EQ(begin.tool_calls[0].arguments, "");
  for (const TokenId id : test_tokenizer().encode(R"({"city": "Oslo"})")) {
    const ChatDelta delta = parser->push(id);
    ASSERT_EQ(delta.tool_calls.size(), 1U);
    EXPECT_EQ(delta.tool_calls[0].index, 0);
    EXPECT_TRUE(delta.tool_calls[0].id.empty() && delta.tool_calls[0].name.empty());
    EXPECT_EQ(delta.tool_calls[0].arguments, test_tokenizer().token_bytes(id));
    EXPECT_TRUE(parser->in_reasoning()) << "as vLLM counts";
  }
  EXPECT_TRUE(parser->push(200012).empty());
  EXPECT_FALSE(parser->in_reasoning());
  EXPECT_TRUE(parser->finish().empty());
}

TEST(HarmonyRepairs, AreCountedByKind) {
  const StreamCase cases[] = {
      {"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|"
       "return|>",
       "a",
       "b",
       "",
       ""},
      {"<|channel|>final", "", "", "", ""},
      {"<|channel|>comment", "", "", "", ""},
      {"<|channel|>commentary to=functions.f js", "", "", "f( js)", "missing_message "},
      {"<|channel|>final<|message|>a<|reserved_200013|>b", "", "ab", "", "stray_control "},
      {"<|start|>assistant<|channel|>final<|message|>a", "", "a", "", "stray_control "},
      {"Hello<|return|>", "", "Hello", "", "missing_message "},
      {"<|channel|>final<|message|>a<|end|>Hello", "", "a\nHello", "", "stray_text "},
      {"<|channel|>final<|message|>a<|end|> \n<|start|>assistant<|channel|>final<|message|>b",
       "",
       "a\nb",
       "",
       ""},
      {"<|channel|>thinking<|message|>a", "", "a", "", "channel "},
      {"<|message|>a", "", "a", "", "channel "},
      {"assistantassistant<|channel|>final<|message|>a", "", "a", "", "role "},
      {"<|channel|>final<|end|>", "", "", "", "missing_message "},
      {"<|channel|>final a b<|message|>c", "", "c", "", "header_word "},
      {"<|channel|>commentary to=functions.f<|<|message|>{}<|call|>",
       "",
       "",
       "f({})",
       "recipient "},
  };
  expect_all(cases);
}

TEST(HarmonyStopMatcher, LooksAtNoArguments) {
  const std::string_view stream =
      " to=functions.f<|channel|>commentary<|message|>{\"a\": \"stop\"}<|call|>";
  const auto with_tools = format().make_stop_matcher(three_tools(), {"stop"}, 0);
  const auto without = format().make_stop_matcher({"stop"});
  bool is_stopped = false;
  for (const TokenId id : test_tokenizer().encode_with_special(stream)) {
    EXPECT_EQ(with_tools->accept(id), std::nullopt);
    is_stopped = is_stopped || without->accept(id).has_value();
  }
  EXPECT_TRUE(is_stopped) << "to a tool that nobody declared: visible text";
}

}  // namespace
}  // namespace rapt
