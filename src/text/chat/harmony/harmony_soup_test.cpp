#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/chat/harmony/harmony_chat_parser_internal.h"
#include "text/chat/harmony/harmony_words_internal.h"
#include "text/text_cases_internal.h"
#include "text/utf8_internal.h"

// What holds for any row of tokens whatever, tried on many random ones.

namespace rapt {
namespace {

constexpr int kNumSoups = 20'000;
constexpr char kLeak = '\x01';

// The real tokenizer, but for the text of control tokens: a byte that no soup holds otherwise.
class MarkedTokenizer final : public Tokenizer {
 public:
  std::vector<TokenId> encode(std::string_view text) const override {
    return test_tokenizer().encode(text);
  }

  std::vector<TokenId> encode_with_special(std::string_view text) const override {
    return test_tokenizer().encode_with_special(text);
  }

  std::string_view token_bytes(TokenId id) const override {
    return is_special(id) ? std::string_view(&kLeak, 1) : test_tokenizer().token_bytes(id);
  }

  bool is_special(TokenId id) const override { return test_tokenizer().is_special(id); }

  std::optional<TokenId> special_id(std::string_view name) const override {
    return test_tokenizer().special_id(name);
  }

  int vocab_size() const override { return test_tokenizer().vocab_size(); }
};

const MarkedTokenizer& tokenizer() {
  static const MarkedTokenizer made;
  return made;
}

const HarmonyTokens& tokens() {
  static const HarmonyTokens found = *HarmonyTokens::find_in(tokenizer());
  return found;
}

ChatOptions two_tools() {
  ChatOptions options;
  options.tools = {{"get_weather"}, {"f"}};
  return options;
}

// Single control tokens, words of headers whole and in pieces, whole headers, halves of characters,
// ids outside the vocabulary, and any text token.
class SoupCook {
 public:
  explicit SoupCook(std::uint64_t seed) : random_(seed) {
    for (const char* piece :
         {"<|start|>",
          "<|message|>",
          "<|channel|>",
          "<|constrain|>",
          "<|end|>",
          "<|call|>",
          "<|return|>",
          "<|endoftext|>",
          "<|reserved_200013|>",
          "<|start|>assistant",
          "<|channel|>final<|message|>",
          "<|channel|>analysis<|message|>",
          "<|channel|>commentary<|message|>",
          "<|end|><|start|>assistant",
          " to=functions.f<|channel|>commentary json<|message|>",
          "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>",
          "<|channel|>analysis to=python code<|message|>",
          "assistant",
          "final",
          "analysis",
          "commentary",
          "comment",
          "functions.f",
          " to=",
          " to=assistant",
          " to=functions.f",
          " json",
          "json",
          " ",
          "\n",
          "{",
          "{\"a\": 1}",
          "user",
          "tool",
          "final answer",
          "?"}) {
      pieces_.push_back(tokenizer().encode_with_special(piece));
    }
  }

  std::vector<TokenId> cook() {
    std::vector<TokenId> soup;
    for (std::uint64_t i = random_.below(16); i > 0; --i) {
      const std::uint64_t kind = random_.below(20);
      if (kind == 0) {
        soup.push_back(random_.below(2) == 0 ? 201'500 : -7);
      } else if (kind < 4) {
        soup.push_back(any_text_token());
      } else {
        const auto& piece = pieces_[random_.below(pieces_.size())];
        soup.insert(soup.end(), piece.begin(), piece.end());
      }
    }
    return soup;
  }

 private:
  TokenId any_text_token() {
    for (;;) {
      const auto id = static_cast<TokenId>(random_.below(199'998));
      if (tokenizer().token_bytes(id).find(kLeak) == std::string_view::npos) {
        return id;
      }
    }
  }

  CaseRandom random_;
  std::vector<std::vector<TokenId>> pieces_;
};

struct Message {
  HarmonyHeader header;
  std::string text;
  bool has_ended = false;
};

class Recorder final : public HarmonySink {
 public:
  void on_begin(const HarmonyHeader& header) override { messages.push_back({header, ""}); }

  void on_text(std::string_view text) override {
    EXPECT_TRUE(!text.empty() && is_valid_utf8(text));
    messages.back().text += text;
  }

  void on_end() override { messages.back().has_ended = true; }

  std::vector<Message> messages;
};

std::vector<Message> messages_of(const std::vector<TokenId>& ids) {
  Recorder recorder;
  HarmonyParser parser(tokenizer(), tokens(), recorder);
  for (const TokenId id : ids) {
    parser.push(id);
  }
  parser.finish();
  return recorder.messages;
}

struct Answer {
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;
};

Answer answer_of(const std::vector<TokenId>& ids) {
  HarmonyChatParser parser(tokenizer(), tokens(), HarmonyToolNames(two_tools()), "soup");
  Answer answer;
  const auto add = [&answer](const ChatDelta& delta) {
    EXPECT_TRUE(is_valid_utf8(delta.reasoning) && is_valid_utf8(delta.content));
    answer.reasoning += delta.reasoning;
    answer.content += delta.content;
    for (const ToolCallDelta& call : delta.tool_calls) {
      EXPECT_TRUE(is_valid_utf8(call.arguments));
      const bool is_new = call.index == static_cast<int>(answer.calls.size());
      EXPECT_EQ(is_new, !call.id.empty());
      EXPECT_EQ(is_new, !call.name.empty());
    }
    add_deltas(answer.calls, delta.tool_calls);
  };
  for (const TokenId id : ids) {
    add(parser.push(id));
  }
  add(parser.finish());
  EXPECT_EQ(parser.num_tool_calls(), static_cast<int>(answer.calls.size()));
  return answer;
}

// The bodies of a soup by the plainest reading: text tokens from MESSAGE to the next token that
// ends a message or begins another.
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
    } else if (in_body && !tokenizer().is_special(id)) {
      const std::string_view text = tokenizer().token_bytes(id);
      bytes += text.empty() ? std::string_view("\xFF") : text;
    }
  }
  close();
  return bodies;
}

bool is_call(const HarmonyHeader& header) {
  const HarmonyToolNames names(two_tools());
  if (header.recipient) {
    return names.find(*header.recipient).has_value();
  }
  for (const std::string& word : header.words) {
    if (!is_content_type(word) && names.find(word)) {
      return true;
    }
  }
  return false;
}

void append_message(std::string& to, const std::string& text) {
  if (!text.empty()) {
    to += (to.empty() ? "" : "\n") + text;
  }
}

// Each message goes to one place, whole.
void expect_sorted(const std::vector<Message>& messages, const Answer& answer) {
  std::string reasoning;
  std::string content;
  std::size_t call_idx = 0;
  for (const Message& message : messages) {
    const std::optional<std::string>& to = message.header.recipient;
    if (is_call(message.header)) {
      ASSERT_LT(call_idx, answer.calls.size());
      EXPECT_EQ(answer.calls[call_idx++].arguments, message.text);
    } else if (message.header.channel == "analysis" && !(to && is_tool_recipient(*to))) {
      append_message(reasoning, message.text);
    } else {
      append_message(content, message.text);
    }
  }
  EXPECT_EQ(answer.calls.size(), call_idx);
  EXPECT_EQ(answer.reasoning, reasoning);
  EXPECT_EQ(answer.content, content);
}

TEST(HarmonySoup, LosesNothingAndLeaksNothing) {
  SoupCook cook(2024);
  const std::set<std::string> declared = {"get_weather", "f"};
  int num_calls = 0;
  for (int round = 0; round < kNumSoups && !HasFailure(); ++round) {
    const std::vector<TokenId> soup = cook.cook();
    SCOPED_TRACE(testing::PrintToString(soup));
    const std::vector<Message> messages = messages_of(soup);
    std::string all_text;
    for (const Message& message : messages) {
      all_text += message.text;
      EXPECT_TRUE(message.has_ended);
    }
    std::size_t pos = 0;
    for (const std::string& body : plain_bodies(soup)) {
      const std::size_t found = all_text.find(body, pos);
      ASSERT_NE(found, std::string::npos) << "lost '" << body << "'";
      pos = found + body.size();
    }
    EXPECT_EQ(all_text.find(kLeak), std::string::npos);
    const Answer answer = answer_of(soup);
    expect_sorted(messages, answer);
    num_calls += static_cast<int>(answer.calls.size());
    for (const ToolCall& call : answer.calls) {
      EXPECT_TRUE(declared.contains(call.name));
    }
  }
  EXPECT_GT(num_calls, kNumSoups / 20) << "the soups are too thin";
}

// What has been shown never changes: the answer to a stream begins with that to its begin, but for
// what the cut made of a held header.
TEST(HarmonySoup, ShowsNothingTwice) {
  SoupCook cook(7);
  for (int round = 0; round < 500 && !HasFailure(); ++round) {
    const std::vector<TokenId> soup = cook.cook();
    SCOPED_TRACE(testing::PrintToString(soup));
    const Answer whole = answer_of(soup);
    HarmonyChatParser parser(tokenizer(), tokens(), HarmonyToolNames(two_tools()), "soup");
    Answer shown;
    for (const TokenId id : soup) {
      const ChatDelta delta = parser.push(id);
      shown.reasoning += delta.reasoning;
      shown.content += delta.content;
      add_deltas(shown.calls, delta.tool_calls);
      ASSERT_TRUE(whole.reasoning.starts_with(shown.reasoning));
      ASSERT_TRUE(whole.content.starts_with(shown.content));
      ASSERT_LE(shown.calls.size(), whole.calls.size());
      for (std::size_t i = 0; i < shown.calls.size(); ++i) {
        ASSERT_EQ(whole.calls[i].id, shown.calls[i].id);
        ASSERT_TRUE(whole.calls[i].arguments.starts_with(shown.calls[i].arguments));
      }
    }
  }
}

TEST(HarmonySoup, IsConservedWhereverTheStreamEnds) {
  SoupCook cook(99);
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    std::vector<TokenId> soup = cook.cook();
    for (; !soup.empty(); soup.pop_back()) {
      SCOPED_TRACE(testing::PrintToString(soup));
      expect_sorted(messages_of(soup), answer_of(soup));
    }
  }
}

}  // namespace
}  // namespace rapt
