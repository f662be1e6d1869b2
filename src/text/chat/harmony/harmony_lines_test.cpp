#include "text/chat/harmony/harmony_lines.h"

#include <gtest/gtest.h>

#include "text/text_cases_internal.h"

namespace rapt {
namespace {

const HarmonyLines& lines() {
  static const std::unique_ptr<HarmonyLines> made = *make_harmony_lines(test_tokenizer());
  return *made;
}

std::string text_of(const Result<json::value>& answer) {
  if (!answer) {
    return "error: " + answer.error().message;
  }
  std::string text;
  for (const TokenId id : ids_from_json(*answer)) {
    text += test_tokenizer().token_bytes(id);
  }
  return text;
}

std::string render(std::string_view line) {
  return text_of(lines().render(*parse_json(line, "the line")));
}

std::string parse(std::string_view line, bool is_strict = false) {
  const auto answer = lines().parse(*parse_json(line, "the line"), is_strict);
  return answer ? to_json_text(*answer) : "error: " + answer.error().message;
}

std::string tokens_of(std::string_view text) {
  std::string list;
  for (const TokenId id : test_tokenizer().encode_with_special(text)) {
    list += (list.empty() ? "[" : ",") + std::to_string(id);
  }
  return list + "]";
}

TEST(HarmonyLines, RenderAsTheLibraryDoes) {
  const auto cases = read_case_lines("chat/harmony_render_cases.jsonl");
  ASSERT_GE(cases.size(), 100U);
  int num_errors = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto ids = lines().render(cases[i].at("line"));
    const json::value& answer = cases[i].at("answer");
    ASSERT_EQ(ids.has_value(), answer.is_string()) << "line " << i + 1;
    if (ids) {
      IdHash hash;
      hash.add(ids_from_json(*ids));
      EXPECT_EQ(hash.hex(), answer.as_string()) << "line " << i + 1 << ": " << text_of(ids);
    } else {
      ++num_errors;
      EXPECT_FALSE(ids.error().message.empty());
    }
  }
  EXPECT_GT(num_errors, 2);
}

TEST(HarmonyLines, RenderInThreeModes) {
  const std::string messages = R"("messages": [
      {"role": "user", "content": "a"},
      {"role": "assistant", "channel": "analysis", "content": [{"type": "text", "text": "b"}]},
      {"role": "assistant", "channel": "final", "content": "c", "name": null}])";
  const std::string kept = "<|start|>assistant<|channel|>analysis<|message|>b<|end|>";
  const std::string user = "<|start|>user<|message|>a<|end|>";
  const std::string answer = "<|start|>assistant<|channel|>final<|message|>c";
  EXPECT_EQ(render("{" + messages + "}"), user + answer + "<|end|><|start|>assistant");
  EXPECT_EQ(
      render("{" + messages + R"(, "render": {"next_turn_role": "user"}})"),
      user + answer + "<|end|><|start|>user"
  );
  EXPECT_EQ(
      render(
          "{" + messages + R"(, "render": {"mode": "conversation", "auto_drop_analysis": false}})"
      ),
      user + kept + answer + "<|end|>"
  );
  EXPECT_EQ(
      render("{" + messages + R"(, "render": {"mode": "training"}})"), user + answer + "<|return|>"
  );
  EXPECT_EQ(render(R"({"messages": [], "render": {"mode": "training"}})"), "");
}

TEST(HarmonyLines, DropAnalysisBeforeTheFirstFinalOnly) {
  const auto say = [](const char* channel, const char* text) {
    return std::string(R"({"role": "assistant", "channel": ")") + channel + R"(", "content": ")" +
           text + R"("},)";
  };
  const std::string history =
      say("analysis", "one") + say("final", "two") + say("analysis", "three");
  const std::string with_answer = R"({"messages": [)" + history +
                                  R"({"role": "assistant", "channel": "final", "content": "4"}]})";
  EXPECT_EQ(render(with_answer).find("one"), std::string::npos);
  EXPECT_NE(render(with_answer).find("three"), std::string::npos);
  const std::string open = R"({"messages": [)" + history + R"({"role": "user", "content": "5"}]})";
  EXPECT_NE(render(open).find("one"), std::string::npos);
}

TEST(HarmonyLines, SayWhatIsWrongWithAConversation) {
  for (const auto& [line, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"3", "the conversation must be an object, but is an integer"},
           {"{}", "the conversation.messages is missing; it must be an array"},
           {R"({"messages": [{"content": "x"}]})",
            "messages[0].role is missing; it must be a string"},
           {R"({"messages": [{"role": "bot", "content": "x"}]})",
            "messages[0].role is 'bot'; use system, developer, user, assistant or tool"},
           {R"({"messages": [{"role": "user", "content": [{"type": "image"}]}]})",
            "messages[0].content[0].type is 'image'; use text, system_content or "
            "developer_content"},
           {R"({"messages": [{"role": "user", "content": [{"type": "system_content"}]}]})",
            "a system_content part may stand in system messages only"},
           {R"({"messages": [{"role": "tool", "content": "x"}]})",
            "a tool message must name the tool it comes from"},
           {R"({"messages": [], "render": 1})", "render must be an object, but is an integer"},
           {R"({"messages": [], "render": {"mode": "x"}})",
            "mode is 'x'; use completion, conversation or training"},
           {R"({"messages": [], "render": {"next_turn_role": "x"}})",
            "next_turn_role is 'x'; use system, developer, user, assistant or tool"},
           {R"({"messages": [], "render": {"auto_drop_analysis": "x"}})",
            "auto_drop_analysis must be true or false"},
       }) {
    EXPECT_EQ(render(line), std::string("error: ") + message) << line;
  }
}

TEST(HarmonyLines, ParseLeniently) {
  EXPECT_EQ(parse("[]"), "[]");
  EXPECT_EQ(
      parse(tokens_of("<|channel|>analysis<|message|>a<|end|><|start|>functions.f to=assistant"
                      "<|channel|>commentary<|message|>b<|end|><|start|>user<|message|>c")),
      R"([{"role":"assistant","channel":"analysis","content":"a"},)"
      R"({"role":"tool","name":"functions.f","channel":"commentary","recipient":"assistant",)"
      R"("content":"b"},{"role":"user","content":"c"}])"
  );
  EXPECT_EQ(
      parse(tokens_of("bare text<|end|>")), R"([{"role":"assistant","content":"bare text"}])"
  );
  const std::string ids = tokens_of("<|message|>x");
  EXPECT_EQ(
      parse("{\"tokens\": " + ids + ", \"role\": \"user\"}"), R"([{"role":"user","content":"x"}])"
  );
}

TEST(HarmonyLines, ParseAnyIdsLeniently) {
  EXPECT_EQ(
      parse("[200008, 64, 201089, -5, 99999999999999, 65]"),
      "[{\"role\":\"assistant\",\"content\":\"a\uFFFD\uFFFD\uFFFDb\"}]"
  );
}

TEST(HarmonyLines, ParseBrokenCharactersInHeaders) {
  // 9552 is a blank and the first two bytes of a character of four.
  EXPECT_EQ(
      parse("[200005, 17196, 9552, 200008, 65]"),
      "[{\"role\":\"assistant\",\"channel\":\"final\",\"content_type\":\"\uFFFD\",\"content\":"
      "\"b\"}]"
  );
}

TEST(HarmonyLines, ParseNamesOfDeclaredToolsInFull) {
  const auto parse_call = [](std::string_view text, std::string_view tool) {
    return parse(
        "{\"tokens\": " + tokens_of(text) + ", \"tools\": [\"" + std::string(tool) + "\"]}"
    );
  };
  const std::string call =
      R"([{"role":"assistant","channel":"commentary","recipient":"functions.get_weather",)"
      R"("content":"{}"}])";
  const char* lone = "<|channel|>commentary get_weather<|message|>{}<|call|>";
  EXPECT_EQ(parse_call(lone, "get_weather"), call);
  EXPECT_EQ(parse_call(lone, "functions.get_weather"), call);
  EXPECT_EQ(
      parse_call(lone, "other"),
      R"([{"role":"assistant","channel":"commentary","content_type":"get_weather",)"
      R"("content":"{}"}])"
  );
  const char* bare = " to=get_weather<|channel|>commentary<|message|>{}<|call|>";
  EXPECT_EQ(parse_call(bare, "get_weather"), call);
  EXPECT_EQ(
      parse_call(bare, "other"),
      R"([{"role":"assistant","channel":"commentary","recipient":"get_weather","content":"{}"}])"
  );
  EXPECT_EQ(
      parse_call(" to=functions.get_weather<|channel|>commentary json<|message|>{}", "get_weather"),
      R"([{"role":"assistant","channel":"commentary","recipient":"functions.get_weather",)"
      R"("content_type":"json","content":"{}"}])"
  );
}

TEST(HarmonyLines, ParseStrictly) {
  EXPECT_EQ(
      parse(tokens_of("<|channel|>final code<|message|>a<|return|>"), true),
      R"([{"role":"assistant","channel":"final","recipient":"code","content":"a"}])"
  );
  EXPECT_EQ(parse("[]", true), "error: the tokens end inside a header");
  EXPECT_EQ(parse(R"({"tokens": [], "role": null})", true), "[]");
}

TEST(HarmonyLines, SayWhatIsWrongWithTokens) {
  for (const bool is_strict : {false, true}) {
    for (const auto& [line, message] : std::initializer_list<std::pair<const char*, const char*>>{
             {"3", "tokens must be a list of ids, but is an integer"},
             {"{}", "the object has no tokens; write {\"tokens\": [ids]} or [ids]"},
             {"[1, 2.5]", "tokens must be whole numbers, but one is a number"},
             {R"({"tokens": [], "role": "bot"})",
              "role is 'bot'; use system, developer, user, assistant or tool"},
             {R"({"tokens": [], "tools": "f"})", "tools must be a list of names"},
             {R"({"tokens": [], "tools": [1]})", "tools must be a list of names"},
         }) {
      EXPECT_EQ(parse(line, is_strict), std::string("error: ") + message) << line;
    }
  }
}

}  // namespace
}  // namespace rapt
