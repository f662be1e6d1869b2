// Whatever a model says, the server answers: many random rows of tokens through the real server and
// the real Harmony format. text/chat/harmony/harmony_soup_test.cpp does the same to the parser
// alone.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <set>
#include <thread>

#include "server/testing/harmony_server_internal.h"

namespace rapt {
namespace {

constexpr int kNumClients = 6;
// RAPT_NUM_SOUPS is 100,000 in release builds and fewer where sanitizers make each one slow.
constexpr int kNumSoups = RAPT_NUM_SOUPS;

constexpr const char* kTools =
    R"("tools":[{"type":"function","function":{"name":"get_weather"}},)"
    R"({"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"python"}}])";
const std::set<std::string> kDeclared = {"get_weather", "f", "python"};

// splitmix64; the same soup for the same seed on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0xD1342543DE82EF95ULL) {}

  std::uint64_t below(std::uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return (mixed ^ (mixed >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

// One row of tokens and what no server may lose of it: the text between a message token and the
// next token that ends a message or begins another.
struct Soup {
  std::vector<TokenId> tokens;
  std::vector<std::string> bodies;
  bool ignores_ends = false;  // the request goes on behind end tokens
};

class Kitchen {
 public:
  explicit Kitchen(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
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
          "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>",
          " to=functions.f<|channel|>commentary json<|message|>",
          "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>",
          "<|channel|>commentary to=functions.use_python <|constrain|>json<|message|>",
          "<|channel|>commentary to=functions.unknown <|constrain|>json<|message|>",
          "<|channel|>analysis to=python code<|message|>",
          "assistant",
          "final",
          "analysis",
          "commentary",
          "functions.f",
          " to=",
          " to=assistant",
          " to=functions.f",
          " json",
          " ",
          "\n",
          "{",
          "{\"a\": 1}",
          "user",
          "final answer",
          "?"}) {
      pieces_.push_back(tokenizer.encode_with_special(piece));
    }
    for (const char* name : {"<|return|>", "<|call|>", "<|endoftext|>"}) {
      ends_.insert(*tokenizer.special_id(name));
    }
    borders_ = ends_;
    for (const char* name : {"<|start|>", "<|channel|>", "<|end|>"}) {
      borders_.insert(*tokenizer.special_id(name));
    }
    message_ = *tokenizer.special_id("<|message|>");
  }

  Soup cook(std::uint64_t seed) const {
    Random random(seed);
    Soup soup;
    soup.ignores_ends = random.below(2) == 0;
    for (std::uint64_t i = 1 + random.below(16); i > 0; --i) {
      const std::uint64_t kind = random.below(20);
      if (kind < 4) {
        soup.tokens.push_back(any_text_token(random));
      } else if (kind < 8) {
        // Text that stands nowhere else in the soup.
        append(soup.tokens, tokenizer_.encode("[" + std::to_string(i) + "]"));
      } else {
        append(soup.tokens, pieces_[random.below(pieces_.size())]);
      }
    }
    if (!soup.ignores_ends) {
      const auto end =
          std::ranges::find_if(soup.tokens, [this](TokenId id) { return ends_.contains(id); });
      soup.tokens.erase(end == soup.tokens.end() ? end : end + 1, soup.tokens.end());
    }
    soup.bodies = bodies_of(soup.tokens);
    return soup;
  }

 private:
  static void append(std::vector<TokenId>& to, const std::vector<TokenId>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  // Whole characters only, so that a body is its tokens' bytes; the parser's own soup has the rest.
  TokenId any_text_token(Random& random) const {
    for (;;) {
      const auto id = static_cast<TokenId>(random.below(199'998));
      const std::string_view bytes = tokenizer_.token_bytes(id);
      const bool is_plain = std::ranges::all_of(bytes, [](char c) { return c >= ' ' && c < 127; });
      const bool looks_like_a_mark = bytes.find_first_of("[]") != std::string_view::npos;
      if (is_plain && !looks_like_a_mark) {
        return id;
      }
    }
  }

  std::vector<std::string> bodies_of(const std::vector<TokenId>& tokens) const {
    std::vector<std::string> bodies;
    bool is_inside = false;
    for (const TokenId id : tokens) {
      if (id == message_) {
        if (!is_inside) {
          bodies.emplace_back();
        }
        is_inside = true;
      } else if (borders_.contains(id)) {
        is_inside = false;
      } else if (is_inside && !tokenizer_.is_special(id)) {
        bodies.back() += tokenizer_.token_bytes(id);
      }
    }
    return bodies;
  }

  const Tokenizer& tokenizer_;
  std::vector<std::vector<TokenId>> pieces_;
  std::set<TokenId> ends_;     // of the turn
  std::set<TokenId> borders_;  // of a body
  TokenId message_ = 0;
};

int count_in(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

// Marks look like "[7]".
std::vector<std::string> marks_in(const std::string& text) {
  std::vector<std::string> marks;
  std::size_t begin = 0;
  while ((begin = text.find('[', begin)) != std::string::npos) {
    const std::size_t end = text.find(']', begin);
    if (end == std::string::npos) {
      break;
    }
    marks.push_back(text.substr(begin, end - begin + 1));
    begin = end;
  }
  return marks;
}

std::vector<std::string> places_of(const ClientChoice& choice) {
  std::vector<std::string> places = {choice.reasoning, choice.content};
  for (const ClientChoice::Call& call : choice.calls) {
    places.push_back(call.arguments);
  }
  return places;
}

// Marks count downwards in a soup.
bool in_order(const std::vector<std::string>& marks) {
  const auto number = [](const std::string& mark) { return std::atoi(mark.c_str() + 1); };
  return std::ranges::is_sorted(marks, std::ranges::greater(), number);
}

// Each body lies whole in one place, each mark in one place only, and nothing changes places.
void expect_all_bodies(const Soup& soup, const std::vector<std::string>& places) {
  std::string everything;
  for (const std::string& place : places) {
    everything += place + '\n';
    EXPECT_TRUE(in_order(marks_in(place))) << place;
  }
  for (const std::string& body : soup.bodies) {
    EXPECT_TRUE(std::ranges::any_of(
        places, [&](const std::string& place) { return place.find(body) != std::string::npos; }
    )) << "lost '"
       << body << "'";
    for (const std::string& mark : marks_in(body)) {
      EXPECT_EQ(count_in(everything, mark), 1) << mark;
    }
  }
}

void expect_conserved(const Soup& soup, const ClientChoice& choice) {
  const std::vector<std::string> places = places_of(choice);
  expect_all_bodies(soup, places);
  for (const std::string& place : places) {
    EXPECT_EQ(place.find(MarkedTokenizer::kLeak), std::string::npos) << "a special token leaked";
  }
  std::set<std::string> ids;
  for (const ClientChoice::Call& call : choice.calls) {
    EXPECT_TRUE(kDeclared.contains(call.name)) << call.name;
    EXPECT_TRUE(call.id.starts_with("call_"));
    EXPECT_TRUE(ids.insert(call.id).second);
  }
  const bool has_ended = choice.finish_reason != "length";
  EXPECT_EQ(choice.finish_reason == "tool_calls", has_ended && !choice.calls.empty());
}

bool same_but_ids(ClientChoice a, ClientChoice b) {
  for (ClientChoice* choice : {&a, &b}) {
    for (ClientChoice::Call& call : choice->calls) {
      call.id.clear();
    }
  }
  return a == b;
}

class ServerSoupTest : public HarmonyServerTest {
 protected:
  ServerSoupTest() : kitchen(*tokenizer) {
    // The seed of a request tells which soup it gets.
    engine.set_script([this](const Request& request, int) {
      return kitchen.cook(request.sampling.seed).tokens;
    });
  }

  static ClientChoice ask(HttpClient& http, int soup_idx, const std::string& more) {
    const std::string body = R"({"messages":[{"role":"user","content":"hi"}],"seed":)" +
                             std::to_string(soup_idx) + more + "," + kTools + "}";
    const std::vector<ClientChoice> choices =
        read_chat_answer(http.post("/v1/chat/completions", body));
    EXPECT_EQ(choices.size(), 1U);
    return choices.empty() ? ClientChoice() : choices[0];
  }

  Kitchen kitchen;
};

TEST_F(ServerSoupTest, LosesNothingAndNeverFails) {
  constexpr int kBothEvery = 20;
  std::atomic<int> next_soup = 0;
  std::atomic<int> num_calls = 0;
  std::vector<std::thread> clients;
  for (int client_idx = 0; client_idx < kNumClients; ++client_idx) {
    clients.emplace_back([&] {
      HttpClient http = client();
      for (int idx = next_soup++; idx < kNumSoups && !HasFailure(); idx = next_soup++) {
        SCOPED_TRACE("soup " + std::to_string(idx));
        const Soup soup = kitchen.cook(static_cast<std::uint64_t>(idx));
        const std::string ends = soup.ignores_ends ? R"(,"ignore_eos":true)" : "";
        const std::string streamed = ends + R"(,"stream":true)";
        const bool streams = idx % 2 == 0;
        const ClientChoice choice = ask(http, idx, streams ? streamed : ends);
        expect_conserved(soup, choice);
        num_calls += static_cast<int>(choice.calls.size());
        if (idx % kBothEvery == 0) {
          EXPECT_TRUE(same_but_ids(choice, ask(http, idx, streams ? ends : streamed)));
        }
      }
    });
  }
  for (std::thread& thread : clients) {
    thread.join();
  }
  EXPECT_GE(next_soup.load(), kNumSoups);
  EXPECT_GT(num_calls.load(), kNumSoups / 20) << "the soups are too thin";
  EXPECT_EQ(client().get("/health").status, 200);
}

// The engine keeps the model to what the constraint allows, whatever it would rather say.
TEST_F(ServerSoupTest, EndsWithACallWhereOneIsRequired) {
  constexpr const char* kChoices[] = {
      R"(,"tool_choice":"required")",
      R"(,"tool_choice":{"type":"function","function":{"name":"python"}})"};
  HttpClient http = client();
  int num_ended = 0;
  for (int idx = 0; idx < kNumSoups / 100 && !HasFailure(); ++idx) {
    SCOPED_TRACE("soup " + std::to_string(idx));
    const bool is_named = idx % 2 == 1;
    const ClientChoice choice =
        ask(http, idx, std::string(kChoices[idx % 2]) + R"(,"max_tokens":100)");
    if (choice.finish_reason == "length") {
      continue;
    }
    ++num_ended;
    EXPECT_EQ(choice.finish_reason, "tool_calls");
    ASSERT_FALSE(choice.calls.empty());
    for (const ClientChoice::Call& call : choice.calls) {
      EXPECT_TRUE(is_named ? call.name == "python" : kDeclared.contains(call.name)) << call.name;
    }
  }
  EXPECT_GT(num_ended, 0);
}

}  // namespace
}  // namespace rapt
