#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/chat/jinja/jinja_chat_parser_internal.h"
#include "text/chat/jinja/unicode_internal.h"
#include "text/text_cases_internal.h"

namespace rapt::jinja {
namespace {

// What a client sees of an answer: reasoning | content | name(arguments) ...
struct Seen {
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;
  RepairCounts repairs = {};
  int num_deltas = 0;

  std::string shown() const {
    std::string text = reasoning + "|" + content;
    for (const ToolCall& call : calls) {
      text += "|" + call.name + "(" + call.arguments + ")";
    }
    return text;
  }
};

JinjaChatParser::Options with(CallStyle calls, std::vector<std::string> tools = {"f", "g"}) {
  return {.style = {.has_thinking = true, .calls = calls}, .tool_names = std::move(tools)};
}

Seen parse_tokens(const JinjaChatParser::Options& options, const std::vector<TokenId>& tokens) {
  JinjaChatParser parser(test_tokenizer(), options);
  Seen seen;
  const auto add = [&seen](const ChatDelta& delta) {
    seen.reasoning += delta.reasoning;
    seen.content += delta.content;
    add_deltas(seen.calls, delta.tool_calls);
    seen.num_deltas += delta.empty() ? 0 : 1;
  };
  for (const TokenId token : tokens) {
    add(parser.push(token));
  }
  add(parser.finish());
  seen.repairs = parser.repairs();
  EXPECT_EQ(parser.num_tool_calls(), static_cast<int>(seen.calls.size()));
  return seen;
}

// Whole words as tokens, and each character by itself: the client must see the same.
Seen parse(const JinjaChatParser::Options& options, const std::string& text) {
  const Seen seen = parse_tokens(options, test_tokenizer().encode(text));
  std::vector<TokenId> characters;
  for (std::size_t pos = 0; pos < text.size();) {
    const std::size_t size = code_point_at(text, pos).num_bytes;
    const std::vector<TokenId> ids = test_tokenizer().encode(text.substr(pos, size));
    characters.insert(characters.end(), ids.begin(), ids.end());
    pos += size;
  }
  EXPECT_EQ(parse_tokens(options, characters).shown(), seen.shown()) << "cut elsewhere";
  return seen;
}

std::string shown(CallStyle calls, const std::string& text) {
  return parse(with(calls), text).shown();
}

int count(const Seen& seen, RepairKind kind) {
  return seen.repairs[static_cast<std::size_t>(kind)];
}

TEST(JinjaChatParser, PassesPlainTextOn) {
  EXPECT_EQ(shown(CallStyle::kNone, "Hello,\n world \n"), "|Hello,\n world \n");
  EXPECT_EQ(shown(CallStyle::kTagged, " a < b <tool \n"), "| a < b <tool \n");
  EXPECT_EQ(shown(CallStyle::kBareJson, "No {\"name\": 1}"), "|No {\"name\": 1}");
  EXPECT_EQ(shown(CallStyle::kMistral, "[TOOL"), "|[TOOL");
}

TEST(JinjaChatParser, PartsThinkingFromTheAnswer) {
  EXPECT_EQ(
      shown(CallStyle::kNone, "<think>\nhm, \n\nso\n</think>\n\nYes.\n"), "hm, \n\nso|Yes.\n"
  );
  EXPECT_EQ(shown(CallStyle::kNone, "<think>\n\n</think>\n\nYes."), "|Yes.");
  EXPECT_EQ(shown(CallStyle::kNone, "<think>cut off"), "cut off|");
  EXPECT_EQ(shown(CallStyle::kNone, "a<think>b</think>c<think>d</think>e"), "b\nd|ace");
  JinjaChatParser::Options opened = with(CallStyle::kNone);
  opened.begins_thinking = true;
  EXPECT_EQ(parse(opened, "hm</think>Yes.").shown(), "hm|Yes.");
  EXPECT_EQ(parse(opened, "<think>hm</think>Yes.").shown(), "hm|Yes.") << "opened twice";
  JinjaChatParser::Options plain = with(CallStyle::kNone);
  plain.style.has_thinking = false;
  EXPECT_EQ(parse(plain, "<think>x</think>").shown(), "|<think>x</think>");
}

TEST(JinjaChatParser, TellsWhetherTokensAreThinking) {
  JinjaChatParser parser(test_tokenizer(), with(CallStyle::kNone));
  EXPECT_FALSE(parser.in_reasoning());
  for (const TokenId token : test_tokenizer().encode("<think>hm")) {
    parser.push(token);
  }
  EXPECT_TRUE(parser.in_reasoning());
  for (const TokenId token : test_tokenizer().encode("</think>yes")) {
    parser.push(token);
  }
  EXPECT_FALSE(parser.in_reasoning());
}

TEST(JinjaChatParser, ReadsTaggedCalls) {
  const char* one =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"}\"]}}\n</tool_call>";
  EXPECT_EQ(shown(CallStyle::kTagged, one), "||f({\"a\": [1, \"}\"]})");
  EXPECT_EQ(
      shown(CallStyle::kTagged, std::string("Let me see.\n\n") + one + "\n"),
      "|Let me see.|f({\"a\": [1, \"}\"]})"
  );
  EXPECT_EQ(
      shown(
          CallStyle::kTagged,
          std::string("<think>hm</think>") + one +
              "\n<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>"
      ),
      "hm||f({\"a\": [1, \"}\"]})|g({})"
  );
  EXPECT_EQ(
      shown(
          CallStyle::kTagged, "<tool_call>{\"arguments\": {\"x\": 1}, \"name\": \"f\"}</tool_call>"
      ),
      "||f({\"x\": 1})"
  ) << "in the other order";
  EXPECT_EQ(
      shown(
          CallStyle::kTagged,
          "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"x\\\": 1}\"}</tool_call>"
      ),
      "||f({\"x\": 1})"
  ) << "as a string";
  EXPECT_EQ(shown(CallStyle::kTagged, "<tool_call>{\"name\": \"f\"}</tool_call>"), "||f({})");
  EXPECT_EQ(
      shown(CallStyle::kTagged, "<tool_call>{\"name\": \"f\", \"arguments\": null}</tool_call>"),
      "||f({})"
  );
  EXPECT_EQ(
      shown(
          CallStyle::kTagged,
          "<tool_call>{\"name\": \"f\", \"arguments\": {}}{\"name\": \"g\", \"arguments\": "
          "{}}</tool_call>"
      ),
      "||f({})|g({})"
  ) << "two in one tag";
}

TEST(JinjaChatParser, StreamsArgumentsAsTheyCome) {
  const Seen seen = parse(
      with(CallStyle::kTagged),
      "<tool_call>{\"name\": \"f\", \"arguments\": {\"text\": \"one two three four five "
      "six\"}}</tool_call>"
  );
  EXPECT_GT(seen.num_deltas, 5);
  EXPECT_TRUE(seen.calls[0].id.starts_with("call_"));
  EXPECT_EQ(seen.calls[0].id.size(), 29U);
}

TEST(JinjaChatParser, ShowsWhatIsNoCall) {
  const Seen undeclared = parse(
      with(CallStyle::kTagged), "<tool_call>{\"name\": \"h\", \"arguments\": {}}</tool_call> x"
  );
  EXPECT_EQ(undeclared.shown(), "|<tool_call>{\"name\": \"h\", \"arguments\": {}}</tool_call> x");
  EXPECT_EQ(count(undeclared, RepairKind::kUndeclaredTool), 1);
  const Seen broken = parse(with(CallStyle::kTagged), "<tool_call>f(1)</tool_call>");
  EXPECT_EQ(broken.shown(), "|<tool_call>f(1)</tool_call>");
  EXPECT_EQ(count(broken, RepairKind::kCallArguments), 1);
  EXPECT_EQ(shown(CallStyle::kTagged, "<tool_call>{\"arg"), "|<tool_call>{\"arg") << "cut off";
  EXPECT_EQ(
      shown(CallStyle::kTagged, "<tool_call>{\"a\": 1}</tool_call>"),
      "|<tool_call>{\"a\": 1}</tool_call>"
  );
  EXPECT_EQ(
      parse(with(CallStyle::kTagged, {}), "<tool_call>{\"name\": \"f\"}").shown(),
      "|<tool_call>{\"name\": \"f\"}"
  ) << "no tools were declared";
}

TEST(JinjaChatParser, LosesNothingWhereACallBreaks) {
  EXPECT_EQ(
      shown(CallStyle::kTagged, "<tool_call>{\"name\": \"f\", \"arguments\": {} é}x"), "|é}x|f({})"
  );
  EXPECT_EQ(shown(CallStyle::kTagged, "<tool_call>{\"name\" é 1}"), "|<tool_call>{\"name\" é 1}");
}

TEST(JinjaChatParser, KeepsWhatACutOffCallSaid) {
  const Seen cut =
      parse(with(CallStyle::kTagged), "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b");
  EXPECT_EQ(cut.shown(), "||f({\"a\": \"b)");
  const Seen closed = parse(
      with(CallStyle::kTagged), "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1</tool_call>"
  );
  EXPECT_EQ(closed.shown(), "||f({\"a\": 1)");
  EXPECT_EQ(count(closed, RepairKind::kCallArguments), 1);
}

TEST(JinjaChatParser, ReadsMistralsCalls) {
  EXPECT_EQ(
      shown(
          CallStyle::kMistral,
          "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": 1}}, {\"name\": \"g\", "
          "\"arguments\": {}}]"
      ),
      "||f({\"a\": 1})|g({})"
  );
  EXPECT_EQ(
      shown(CallStyle::kMistral, "[TOOL_CALLS]f[ARGS]{\"a\": {\"b\": 2}}[TOOL_CALLS]g[ARGS]{}"),
      "||f({\"a\": {\"b\": 2}})|g({})"
  );
  EXPECT_EQ(shown(CallStyle::kMistral, "Yes. [TOOL_CALLS]f{\"a\": 1}"), "|Yes.|f({\"a\": 1})");
  EXPECT_EQ(shown(CallStyle::kMistral, "[TOOL_CALLS]h[ARGS]{}"), "|[TOOL_CALLS]h[ARGS]{}");
  EXPECT_EQ(shown(CallStyle::kMistral, "[TOOL_CALLS]h{\"a\": 1} x"), "|[TOOL_CALLS]h{\"a\": 1} x")
      << "as the model wrote it";
  EXPECT_EQ(shown(CallStyle::kMistral, "[TOOL_CALLS] h {}"), "|[TOOL_CALLS] h {}");
  EXPECT_EQ(shown(CallStyle::kMistral, "[TOOL_CALLS][ARGS]{}"), "|[TOOL_CALLS][ARGS]{}");
  const Seen seen = parse(with(CallStyle::kMistral), "[TOOL_CALLS]f{}");
  EXPECT_EQ(seen.calls[0].id.size(), 9U) << "Mistral's templates take no other ids";
}

TEST(JinjaChatParser, ReadsCallsThatAreNothingButJson) {
  EXPECT_EQ(
      shown(CallStyle::kBareJson, "{\"name\": \"f\", \"parameters\": {\"a\": 1}}"),
      "||f({\"a\": 1})"
  );
  EXPECT_EQ(
      shown(
          CallStyle::kBareJson,
          " \n{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", "
          "\"parameters\": {}}"
      ),
      "||f({})|g({})"
  );
  EXPECT_EQ(
      shown(CallStyle::kBareJson, "<|python_tag|>{\"name\": \"f\", \"parameters\": {}}"), "||f({})"
  );
  EXPECT_EQ(shown(CallStyle::kBareJson, "{\"answer\": 42}"), "|{\"answer\": 42}")
      << "other JSON is text";
  EXPECT_EQ(shown(CallStyle::kBareJson, "{not json"), "|{not json");
}

TEST(JinjaChatParser, MakesTheSameIdsFromTheSameSeed) {
  JinjaChatParser::Options options = with(CallStyle::kMistral);
  options.id_seed = "one";
  const std::string first = parse(options, "[TOOL_CALLS]f{}").calls[0].id;
  EXPECT_EQ(parse(options, "[TOOL_CALLS]f{}").calls[0].id, first);
  options.id_seed = "two";
  EXPECT_NE(parse(options, "[TOOL_CALLS]f{}").calls[0].id, first);
}

// A tag that is a token counts by its id only.
TEST(TagScanner, TellsTokensFromWordsThatLookLikeThem) {
  const Tokenizer& tokenizer = test_tokenizer();
  const TokenId end = *tokenizer.special_id("<|end|>");
  const Tag tag = make_tag(tokenizer, "<|end|>");
  EXPECT_EQ(tag.id, end);
  EXPECT_EQ(make_tag(tokenizer, "<think>").id, std::nullopt);
  TagScanner scanner(tokenizer, {tag});
  std::string text;
  for (const TokenId token : tokenizer.encode("a<|end|>b")) {
    for (const TagScanner::Piece& piece : scanner.push(token)) {
      EXPECT_FALSE(piece.tag_idx);
      text += piece.text;
    }
  }
  EXPECT_EQ(text, "a<|end|>b");
  const std::vector<TagScanner::Piece> pieces = scanner.push(end);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].tag_idx, 0U);
}

}  // namespace
}  // namespace rapt::jinja
