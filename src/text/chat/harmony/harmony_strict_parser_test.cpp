#include <gtest/gtest.h>

#include "text/chat/harmony/harmony_strict_header_internal.h"
#include "text/chat/harmony/harmony_strict_parser_internal.h"
#include "text/text_cases_internal.h"

namespace rapt {
namespace {

constexpr TokenId kStart = 200'006;
constexpr TokenId kMessage = 200'008;
constexpr TokenId kEnd = 200'007;

std::string show(const HarmonyParsedMessage& message) {
  std::string out = message.role;
  out += message.name ? ":" + *message.name : "";
  out += message.channel ? " channel=" + *message.channel : "";
  out += message.recipient ? " to=" + *message.recipient : "";
  out += message.content_type ? " type=" + *message.content_type : "";
  return out + (message.content.empty() ? "" : " | " + message.content);
}

std::string header(std::string text, std::optional<HarmonyRole> role = HarmonyRole::kAssistant) {
  const auto message = parse_harmony_header_strictly(std::move(text), role);
  return message ? show(*message) : "error: " + message.error().message;
}

Result<std::vector<HarmonyParsedMessage>> parse(
    std::vector<TokenId> ids, std::optional<HarmonyRole> role = HarmonyRole::kAssistant
) {
  return parse_harmony_strictly(
      test_tokenizer(), *HarmonyTokens::find_in(test_tokenizer()), ids, role
  );
}

std::vector<TokenId> ids_of(std::string_view text) {
  return test_tokenizer().encode_with_special(text);
}

TEST(HarmonyStrictHeader, ReadsWhatTheModelShouldWrite) {
  EXPECT_EQ(header("<|channel|>analysis"), "assistant channel=analysis");
  EXPECT_EQ(
      header(" to=functions.f<|channel|>commentary <|constrain|>json"),
      "assistant channel=commentary to=functions.f type=<|constrain|>json"
  );
  EXPECT_EQ(
      header("<|channel|>commentary to=functions.f<|constrain|>json"),
      "assistant channel=commentary to=functions.f type=<|constrain|>json"
  );
  EXPECT_EQ(
      header("functions.f to=assistant<|channel|>commentary", std::nullopt),
      "tool:functions.f channel=commentary to=assistant"
  );
  EXPECT_EQ(header("user", std::nullopt), "user");
  EXPECT_EQ(
      header("assistant assistant<|channel|>final", std::nullopt),
      "assistant channel=final to=assistant"
  );
}

TEST(HarmonyStrictHeader, KeepsTheLibrarysFaults) {
  EXPECT_EQ(header("<|channel|>analysis code"), "assistant channel=analysis to=code");
  EXPECT_EQ(
      header("<|channel|>final<|constrain|>json"), "assistant channel=final to=<|constrain|>json"
  );
  EXPECT_EQ(header("<|channel|>final to="), "assistant channel=final to=");
  EXPECT_EQ(header("a b"), "assistant to=a type=b");
  EXPECT_EQ(header("<|channel|>a<|channel|>b"), "assistant channel=a to=<|channel|>b");
  EXPECT_EQ(header("tool to=x", std::nullopt), "tool:tool to=x");
  EXPECT_EQ(header("bot tool to=x", std::nullopt), "tool:bot to=x");
  EXPECT_EQ(header("to=x", std::nullopt), "tool:to=x");
}

TEST(HarmonyStrictHeader, TellsBlanksApart) {
  // Any blank of Unicode ends a channel and is trimmed, but only ASCII ones part words.
  EXPECT_EQ(header("<|channel|>final\u2003\u00a0"), "assistant channel=final");
  EXPECT_EQ(header("<|channel|>final x\u2003y"), "assistant channel=final to=x\u2003y");
  EXPECT_EQ(header("\n\t a \f\r\n json\v"), "assistant to=a type=json");
}

TEST(HarmonyStrictHeader, RefusesWhatTheLibraryRefuses) {
  EXPECT_EQ(header("<|channel|> final").substr(0, 6), "error:");
  EXPECT_EQ(header("<|channel|>").substr(0, 6), "error:");
  EXPECT_EQ(header("a b c").substr(0, 6), "error:");
  EXPECT_EQ(header("a to=b").substr(0, 6), "error:");
  EXPECT_EQ(header("", std::nullopt), "error: a header has no role");
  EXPECT_EQ(header("user:ada", std::nullopt), "error: a header has the unknown role 'user:ada'");
}

TEST(HarmonyStrictParser, TakesAnyTerminatorOrNone) {
  const auto messages = parse(ids_of(
      "<|channel|>analysis<|message|>a<|call|><|start|>assistant<|channel|>final<|message|>b"
      "<|return|><|start|>user<|message|><|end|><|start|>user<|message|>c<|endoftext|><|start|>"
  ));
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 4U);
  EXPECT_EQ(show((*messages)[0]), "assistant channel=analysis | a");
  EXPECT_EQ(show((*messages)[1]), "assistant channel=final | b");
  EXPECT_EQ(show((*messages)[2]), "user");
  EXPECT_EQ(show((*messages)[3]), "user | c<|endoftext|><|start|>");
}

TEST(HarmonyStrictParser, RefusesWhatTheLibraryRefuses) {
  EXPECT_FALSE(parse({}));  // ends inside a header
  EXPECT_TRUE(parse({}, std::nullopt));
  EXPECT_FALSE(parse(ids_of("<|channel|>final<|end|>")));
  EXPECT_FALSE(parse(ids_of("<|message|>a<|end|>b")));
  EXPECT_FALSE(parse(ids_of("assistant<|message|>a"), std::nullopt));
  EXPECT_FALSE(parse({201'089, kMessage}));
  EXPECT_FALSE(parse({-1, kMessage}));
  EXPECT_FALSE(parse({9552, kMessage}));  // the first bytes of a character
}

TEST(HarmonyStrictParser, NamesTokensAsTheLibraryDoes) {
  const auto messages = parse({kMessage, 200'018, 201'088, 200'013});
  ASSERT_TRUE(messages);
  EXPECT_EQ((*messages)[0].content, "<|reserved_200018|><|reserved_201088|><|reserved_200013|>");
}

TEST(HarmonyStrictParser, ReplacesBrokenCharacters) {
  std::vector<TokenId> ids = {kMessage, 9552, 9552};
  const std::vector<TokenId> rest = ids_of("worked");
  ids.insert(ids.end(), rest.begin(), rest.end());
  EXPECT_EQ((*parse(ids))[0].content, " \uFFFD \uFFFDworked");
  EXPECT_EQ((*parse({kMessage, 9552, kEnd}))[0].content, " \uFFFD");
  // An unknown id takes the rest of its body with it, and stands before what was not yet certain.
  EXPECT_EQ((*parse({kMessage, 64, 201'089, 65, 66, kEnd}))[0].content, "a\uFFFD");
  EXPECT_EQ((*parse({kMessage, 9552, 201'089, 65, kEnd}))[0].content, " \uFFFD\uFFFD");
  EXPECT_EQ((*parse({kMessage, 64, 201'089, kEnd, kStart, 1428, kMessage, 65}))[1].content, "b");
}

TEST(HarmonyStrictParser, AgreesWithTheLibrary) {
  const auto cases = read_case_lines("chat/harmony_parse_cases.jsonl");
  ASSERT_GE(cases.size(), 100U);
  int num_errors = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const json::object& line = cases[i].at("line").as_object();
    const json::value& role_name = line.at("role");
    const std::optional<HarmonyRole> role =
        role_name.is_null() ? std::nullopt : harmony_role_called(role_name.as_string());
    const auto messages = parse(ids_from_json(line.at("tokens")), role);
    const json::value& answer = cases[i].at("answer");
    ASSERT_EQ(messages.has_value(), answer.is_array()) << "line " << i + 1;
    if (!messages) {
      ++num_errors;
      continue;
    }
    ASSERT_EQ(messages->size(), answer.as_array().size()) << "line " << i + 1;
    for (std::size_t m = 0; m < messages->size(); ++m) {
      const json::object& expected = answer.as_array()[m].as_object();
      const HarmonyParsedMessage& message = (*messages)[m];
      const auto field = [&expected](const char* key) {
        const json::value* value = expected.if_contains(key);
        return value == nullptr ? std::nullopt : std::optional(std::string(value->as_string()));
      };
      EXPECT_EQ(message.role, field("role")) << "line " << i + 1;
      EXPECT_EQ(message.name, field("name")) << "line " << i + 1;
      EXPECT_EQ(message.channel, field("channel")) << "line " << i + 1;
      EXPECT_EQ(message.recipient, field("recipient")) << "line " << i + 1;
      EXPECT_EQ(message.content_type, field("content_type")) << "line " << i + 1;
      EXPECT_EQ(message.content, field("content")) << "line " << i + 1;
    }
  }
  EXPECT_GT(num_errors, 10);
}

}  // namespace
}  // namespace rapt
