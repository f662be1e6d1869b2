#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/chat/harmony/harmony_parser_internal.h"
#include "text/text_cases_internal.h"
#include "text/utf8_internal.h"

namespace rapt {
namespace {

const HarmonyTokens& tokens() {
  static const HarmonyTokens found = *HarmonyTokens::find_in(test_tokenizer());
  return found;
}

const ChatFormat& format() {
  static const std::unique_ptr<ChatFormat> made = *make_chat_format("harmony", test_tokenizer());
  return *made;
}

ChatDelta parse(const std::vector<TokenId>& ids) {
  const auto parser = format().make_parser();
  ChatDelta whole;
  for (const TokenId id : ids) {
    const ChatDelta delta = parser->push(id);
    EXPECT_TRUE(is_valid_utf8(delta.reasoning) && is_valid_utf8(delta.content));
    whole.reasoning += delta.reasoning;
    whole.content += delta.content;
  }
  const ChatDelta rest = parser->finish();
  return {whole.reasoning + rest.reasoning, whole.content + rest.content};
}

// Remembers whole messages.
class Recorder final : public HarmonySink {
 public:
  struct Message {
    HarmonyHeader header;
    std::string text;
    bool has_ended = false;
  };

  void on_begin(const HarmonyHeader& header) override { messages.push_back({header, "", false}); }

  void on_text(std::string_view text) override { messages.back().text += text; }

  void on_end() override { messages.back().has_ended = true; }

  std::vector<Message> messages;
};

std::vector<Recorder::Message> parse_messages(const std::vector<TokenId>& ids) {
  Recorder recorder;
  HarmonyParser parser(test_tokenizer(), tokens(), recorder);
  for (const TokenId id : ids) {
    parser.push(id);
  }
  parser.finish();
  return recorder.messages;
}

TEST(HarmonyParser, ReadsWellFormedStreamsAsTheReferenceDoes) {
  int num_compared = 0;
  for (const json::value& item : read_case_lines("chat/harmony_streams.jsonl")) {
    const json::value* expected = item.as_object().if_contains("messages");
    if (expected == nullptr) {
      continue;
    }
    ++num_compared;
    const auto messages = parse_messages(ids_from_json(item.at("ids")));
    ASSERT_EQ(messages.size(), expected->as_array().size()) << to_json_text(item);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const json::object& want = expected->as_array()[i].as_object();
      const auto text_or = [&want](const char* key) {
        const json::value* value = want.if_contains(key);
        return value != nullptr ? std::string(value->as_string()) : std::string();
      };
      EXPECT_EQ(messages[i].header.role, "assistant");
      EXPECT_EQ(messages[i].header.channel, text_or("channel"));
      EXPECT_EQ(messages[i].header.recipient.value_or(""), text_or("recipient"));
      EXPECT_EQ(messages[i].header.content_type.value_or(""), text_or("content_type"));
      EXPECT_EQ(messages[i].text, text_or("text"));
      EXPECT_TRUE(messages[i].has_ended);
    }
  }
  EXPECT_GE(num_compared, 300);
}

// The bodies of a stream by the plainest reading: ordinary tokens from MESSAGE to the next token
// that ends a message or begins another.
std::vector<std::string> plain_bodies(const std::vector<TokenId>& ids) {
  std::vector<std::string> bodies;
  bool in_body = false;
  std::string bytes;
  const auto close = [&] {
    if (in_body) {
      bodies.push_back(to_valid_utf8(bytes));
    }
    in_body = false;
    bytes.clear();
  };
  for (const TokenId id : ids) {
    if (tokens().ends_message(id) || id == tokens().start || id == tokens().channel) {
      close();
    } else if (id == tokens().message) {
      in_body = true;
    } else if (in_body && !test_tokenizer().is_special(id)) {
      const std::string_view text = test_tokenizer().token_bytes(id);
      bytes += text.empty() ? std::string_view("\xFF") : text;
    }
  }
  close();
  return bodies;
}

TEST(HarmonyParser, LosesNoBodyOfAMutilatedStream) {
  int num_mutilated = 0;
  for (const json::value& item : read_case_lines("chat/harmony_streams.jsonl")) {
    const std::vector<TokenId> ids = ids_from_json(item.at("ids"));
    num_mutilated += item.as_object().contains("messages") ? 0 : 1;
    std::string all_text;
    for (const Recorder::Message& message : parse_messages(ids)) {
      all_text += message.text;
      EXPECT_TRUE(is_valid_utf8(message.text));
      EXPECT_TRUE(message.has_ended);
    }
    std::size_t pos = 0;
    for (const std::string& body : plain_bodies(ids)) {
      const std::size_t found = all_text.find(body, pos);
      ASSERT_NE(found, std::string::npos) << "lost '" << body << "' of " << to_json_text(item);
      pos = found + body.size();
    }
    // The chat view holds the same text, and no control token's name.
    const ChatDelta whole = parse(ids);
    std::size_t num_line_feeds_added = whole.reasoning.size() + whole.content.size();
    ASSERT_GE(num_line_feeds_added, all_text.size());
    num_line_feeds_added -= all_text.size();
    EXPECT_LE(num_line_feeds_added, ids.size());
    EXPECT_EQ((whole.reasoning + whole.content).find("<|"), std::string::npos)
        << to_json_text(item);
  }
  EXPECT_GE(num_mutilated, 400);
}

TEST(HarmonyParser, LosesNoBodyOfTokenSoup) {
  CaseRandom random(17);
  const std::vector<TokenId> pool = {
      tokens().start,
      tokens().message,
      tokens().channel,
      tokens().constrain,
      tokens().end,
      tokens().call,
      tokens().end_of_turn,
      tokens().end_of_text,
      200013,
      201500,
      173781,
      35644,
      12606,
      815,
      17196,
      316,
      28,
      4108,
      5701,
      220,
      198,
      92,
      10848,
      9552,
      240};
  for (int round = 0; round < 2000; ++round) {
    std::vector<TokenId> ids;
    for (std::uint64_t i = random.below(30); i > 0; --i) {
      ids.push_back(pool[random.below(pool.size())]);
    }
    std::string all_text;
    for (const Recorder::Message& message : parse_messages(ids)) {
      all_text += message.text;
    }
    std::size_t pos = 0;
    for (const std::string& body : plain_bodies(ids)) {
      const std::size_t found = all_text.find(body, pos);
      ASSERT_NE(found, std::string::npos) << testing::PrintToString(ids);
      pos = found + body.size();
    }
    ASSERT_EQ(all_text.find("<|"), std::string::npos);
  }
}

// The completion that OpenAI's guide to the format shows.
TEST(HarmonyChatParser, ReadsTheGuidesCompletion) {
  const ChatDelta whole =
      parse({200005, 35644, 200008, 1844,  31064, 25,  392,   4827, 382, 220,    17,     659,
             220,    17,    16842,  12295, 81645, 13,  51441, 6052, 13,  200007, 200006, 173781,
             200005, 17196, 200008, 17,    659,   220, 17,    314,  220, 19,     13,     200002});
  EXPECT_EQ(whole.reasoning, "User asks: \"What is 2 + 2?\" Simple arithmetic. Provide answer.");
  EXPECT_EQ(whole.content, "2 + 2 = 4.");
}

struct RepairCase {
  const char* stream;  // control tokens spelled out
  const char* reasoning;
  const char* content;
};

TEST(HarmonyChatParser, RepairsWhatTheModelGetsWrong) {
  const RepairCase cases[] = {
      // All is well.
      {"<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>final<|message|>4.<"
       "|return|>",
       "Think.",
       "4."},
      {"<|channel|>final<|message|>4.<|endoftext|>", "", "4."},
      {"<|channel|>final <|constrain|>json<|message|>{}<|return|>", "", "{}"},
      {"<|channel|>analysis<|message|>cut sho", "cut sho", ""},
      // Several messages of one kind.
      {"<|channel|>commentary<|message|>one<|end|><|start|>assistant<|channel|>final<|message|><|"
       "end|>"
       "<|start|>assistant<|channel|>final<|message|>two<|return|>",
       "",
       "one\ntwo"},
      // MESSAGE is missing.
      {"<|channel|>final{\"a\": 1}<|return|>", "", "{\"a\": 1}"},
      {"<|channel|>commentary text<|end|>", "", " text"},
      {"<|channel|>analysis I think it is so, is it not?<|end|>",
       " I think it is so, is it not?",
       ""},
      {"<|channel|>finalThe answer<|return|>", "", "The answer"},
      {"<|channel|>finalize it<|return|>", "", "finalize it"},
      {"<|channel|>final", "", ""},
      {"<|channel|>commentary to=functions.f <|constrain|>json{\"a\": 1}<|call|>",
       "",
       "{\"a\": 1}"},
      // No header at all.
      {"Hello there<|end|>", "", "Hello there"},
      {"assistant is a role<|end|>", "", "assistant is a role"},
      {"final answer: 4", "", "final answer: 4"},
      {"to be or not", "", "to be or not"},
      {"<|message|>bare<|return|>", "", "bare"},
      // START or END is missing.
      {"<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b<|return|>", "a", "b"},
      {"<|channel|>analysis<|message|>a<|end|>assistant<|channel|>final<|message|>b<|return|>",
       "a",
       "b"},
      {"<|channel|>analysis<|message|>a<|start|>assistant<|channel|>final<|message|>b<|return|>",
       "a",
       "b"},
      {"<|channel|>analysis<|message|>a<|channel|>final<|message|>b<|return|>", "a", "b"},
      // Text between messages.
      {"<|channel|>analysis<|message|>a<|end|> \n<|start|>assistant<|channel|>final<|message|>b",
       "a",
       "b"},
      {"<|channel|>analysis<|message|>a<|end|>stray "
       "text<|start|>assistant<|channel|>final<|message|>b",
       "a",
       "stray text\nb"},
      {"stray text<|message|>b<|return|>", "", "stray text\nb"},
      // Repeated and odd header parts.
      {"<|start|><|start|>assistant<|channel|>final<|message|>b", "", "b"},
      {"assistantassistant<|channel|>final<|message|>b", "", "b"},
      {"<|start|>assistantfinal<|message|>b", "", "b"},
      {"<|channel|><|message|>b<|return|>", "", "b"},
      {"<|channel|>thinking<|message|>b<|return|>", "", "b"},
      {"<|channel|>analysis\n<|message|>b<|return|>", "b", ""},
      {"<|channel|>commentary?commentary?<|message|>b", "", "b"},
      {"<|channel|>––analysis<|message|>b", "b", ""},
      {"<|channel|>commentary to=assistant<|channel|>analysis<|message|>b", "b", ""},
      {"<|channel|>analysis code<|message|>b", "b", ""},
      {"<|start|>user<|message|>b<|end|>", "", "b"},
      // Stray control tokens inside a body.
      {"<|channel|>final<|message|>a<|constrain|>b<|message|>c<|reserved_200013|>d<|return|>",
       "",
       "abcd"},
      {"<|call|><|end|><|return|>", "", ""},
      // Calls: nobody has declared a tool.
      {" to=functions.f<|channel|>commentary <|constrain|>json<|message|>{}<|call|>", "", "{}"},
      {"<|channel|>analysis to=python code<|message|>1+1<|call|>", "", "1+1"},
  };
  for (const RepairCase& item : cases) {
    const ChatDelta whole = parse(test_tokenizer().encode_with_special(item.stream));
    EXPECT_EQ(whole.reasoning, item.reasoning) << item.stream;
    EXPECT_EQ(whole.content, item.content) << item.stream;
  }
}

TEST(HarmonyParser, ReadsRecipientsWhereverTheyStand) {
  struct HeaderCase {
    const char* stream;
    const char* channel;
    const char* recipient;
    const char* content_type;
  };

  const HeaderCase cases[] = {
      {" to=functions.f<|channel|>commentary<|message|>", "commentary", "functions.f", ""},
      {"<|channel|>commentary to=functions.f<|message|>", "commentary", "functions.f", ""},
      {"<|channel|>commentary to=f <|constrain|>json<|message|>",
       "commentary",
       "f",
       "<|constrain|>json"},
      {"<|channel|>commentary to=f<|constrain|>json<|message|>",
       "commentary",
       "f",
       "<|constrain|>json"},
      {"<|channel|>commentary to=f json extra<|message|>", "commentary", "f", "extra"},
      {"<|channel|>commentaryto=f<|message|>", "commentary", "f", ""},
      {"<|channel|>commentary to=<|message|>", "commentary", "", ""},
      {" to=f<|channel|>commentary<|channel|>analysis<|message|>", "analysis", "f", ""},
      {"<|channel|>final json<|message|>", "final", "", "json"},
      {"<|channel|><|message|>", "final", "", ""},
      {"<|channel|>analysis<|channel|><|message|>", "analysis", "", ""},
      {"<|channel|>thinking<|message|>", "", "", ""},
      {"<|start|>functions.f to=assistant<|channel|>commentary<|message|>",
       "commentary",
       "assistant",
       ""},
  };
  for (const HeaderCase& item : cases) {
    auto ids = test_tokenizer().encode_with_special(item.stream);
    ids.push_back(4108);
    const auto messages = parse_messages(ids);
    ASSERT_EQ(messages.size(), 1U) << item.stream;
    EXPECT_EQ(messages[0].header.channel, item.channel) << item.stream;
    EXPECT_EQ(messages[0].header.recipient.value_or(""), item.recipient) << item.stream;
    EXPECT_EQ(messages[0].header.content_type.value_or(""), item.content_type) << item.stream;
    EXPECT_EQ(messages[0].text, "json") << item.stream;
  }
  const auto spelled = test_tokenizer().encode("<|constrain|>json");
  std::vector<TokenId> ids = test_tokenizer().encode_with_special("<|channel|>commentary to=f");
  ids.insert(ids.end(), spelled.begin(), spelled.end());
  ids.push_back(tokens().message);
  EXPECT_EQ(parse_messages(ids)[0].header.recipient, "f") << "a name ends at '<|'";
}

TEST(HarmonyParser, KnowsAToolsReplyByItsName) {
  const auto messages = parse_messages(test_tokenizer().encode_with_special(
      "<|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>"
  ));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].header.role, "functions.f");
}

TEST(HarmonyChatParser, StreamsABodyTokenByToken) {
  const auto parser = format().make_parser();
  for (const TokenId id : test_tokenizer().encode_with_special("<|channel|>final<|message|>")) {
    EXPECT_TRUE(parser->push(id).empty());
  }
  EXPECT_EQ(parser->push(13225).content, "Hello");
  EXPECT_EQ(parser->push(9552).content, " ");
  EXPECT_EQ(parser->push(240).content, "") << "the second half of a character follows";
  EXPECT_TRUE(parser->push(200007).content.starts_with("\uFFFD"));
}

TEST(HarmonyChatParser, ReplacesAnUnknownIdAndGoesOn) {
  EXPECT_EQ(parse({200005, 17196, 200008, 13225, 5'000'000, 2375}).content, "Hello\uFFFD world");
}

TEST(HarmonyChatParser, StreamsBareTextAtOnce) {
  const auto parser = format().make_parser();
  EXPECT_EQ(parser->push(13225).content, "Hello");
  EXPECT_EQ(parser->push(2375).content, " world");
}

TEST(HarmonyChatParser, HoldsNoLongTextForAHeader) {
  const auto parser = format().make_parser();
  std::string shown;
  for (const TokenId id : test_tokenizer().encode_with_special("<|channel|>analysis")) {
    shown += parser->push(id).reasoning;
  }
  for (const TokenId id : test_tokenizer().encode(" this goes on and on")) {
    shown += parser->push(id).reasoning;
  }
  EXPECT_EQ(shown, " this goes on and on");
}

TEST(HarmonyChatParser, SaysWhetherItIsThinking) {
  const auto parser = format().make_parser();
  std::string thinking;
  for (const TokenId id : test_tokenizer().encode_with_special(
           "<|channel|>analysis<|message|>a b<|end|><|start|>assistant<|channel|>final<|message|>c"
       )) {
    parser->push(id);
    thinking += parser->in_reasoning() ? '1' : '0';
  }
  EXPECT_EQ(thinking, "001110000000");
}

TEST(HarmonyStopMatcher, LooksAtVisibleTextOnly) {
  const auto matcher = format().make_stop_matcher({"final", "a b"});
  const auto ids = test_tokenizer().encode_with_special(
      "<|channel|>analysis<|message|>a b "
      "final<|end|><|start|>assistant<|channel|>final<|message|>a b"
  );
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    EXPECT_EQ(matcher->accept(ids[i]), std::nullopt);
  }
  EXPECT_EQ(matcher->accept(ids.back()), 1);
}

TEST(HarmonyStopMatcher, IgnoresStopsInsideTheFirstTokens) {
  const auto matcher = format().make_stop_matcher({"Hello"}, 4);
  for (const TokenId id : {200005, 17196, 200008, 13225}) {
    EXPECT_EQ(matcher->accept(id), std::nullopt);
  }
  EXPECT_EQ(matcher->accept(13225), 0);
}

}  // namespace
}  // namespace rapt
