#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/harmony/harmony_constraint_internal.h"
#include "text/chat/harmony/harmony_tool_names_internal.h"

namespace rapt {

namespace {

// Thoughts and words to the user before the model has to call. It seldom writes more than two.
constexpr int kMaxFreeMessages = 4;

enum class Body { kNone, kFree, kCall };

using Ids = std::vector<TokenId>;

// The headers that may come, token by token, and what body each begins.
class HeaderTree {
 public:
  static constexpr int kRoot = 0;

  void add(std::initializer_list<const Ids*> pieces, Body body) {
    int node = kRoot;
    for (const Ids* piece : pieces) {
      for (const TokenId token : *piece) {
        node = child_or_new(node, token);
      }
    }
    nodes_[static_cast<std::size_t>(node)].body = body;
  }

  // -1 when `token` may not come.
  int child(int node, TokenId token) const {
    const auto& next = nodes_[static_cast<std::size_t>(node)].next;
    const auto found = next.find(token);
    return found == next.end() ? -1 : found->second;
  }

  const std::map<TokenId, int>& next(int node) const {
    return nodes_[static_cast<std::size_t>(node)].next;
  }

  Body body(int node) const { return nodes_[static_cast<std::size_t>(node)].body; }

 private:
  struct Node {
    std::map<TokenId, int> next;
    Body body = Body::kNone;
  };

  int child_or_new(int node, TokenId token) {
    const int known = child(node, token);
    if (known >= 0) {
      return known;
    }
    const int made = static_cast<int>(nodes_.size());
    nodes_[static_cast<std::size_t>(node)].next.emplace(token, made);
    nodes_.emplace_back();
    return made;
  }

  std::vector<Node> nodes_{1};
};

// What all choices of a request share; never changes.
struct Grammar {
  HarmonyTokens tokens;
  Ids special_ids;
  HeaderTree any_header;   // from START on
  HeaderTree call_header;  // the same, calls only
  int first_node = 0;      // of any_header, behind "START assistant", which the prompt ends with
};

void allow_only(std::span<std::uint32_t> mask, const std::map<TokenId, int>& next) {
  // A model with a smaller vocabulary cannot write the format at all; let it write something.
  if (next.empty() || static_cast<std::size_t>(next.begin()->first) / 32 >= mask.size()) {
    return;
  }
  auto item = next.begin();
  for (std::size_t word = 0; word < mask.size(); ++word) {
    std::uint32_t bits = 0;
    for (; item != next.end() && static_cast<std::size_t>(item->first) / 32 == word; ++item) {
      bits |= 1U << (static_cast<std::uint32_t>(item->first) % 32);
    }
    mask[word] &= bits;
  }
}

class HarmonyConstraint final : public TokenConstraint {
 public:
  explicit HarmonyConstraint(std::shared_ptr<const Grammar> grammar)
      : grammar_(std::move(grammar)) {
    runs_.reserve(kNumReservedRuns);
    runs_.push_back({{Phase::kHeader, grammar_->first_node, 0}, 1});
  }

  void fill_mask(std::span<std::uint32_t> mask) override {
    const State& state = runs_.back().state;
    switch (state.phase) {
      case Phase::kHeader:
        allow_only(mask, headers(state).next(state.node));
        break;
      case Phase::kFreeBody:
        forbid_special(mask, grammar_->tokens.end);
        break;
      case Phase::kCallBody:
        forbid_special(mask, grammar_->tokens.call);
        break;
      case Phase::kDone:
        break;
    }
  }

  void accept(TokenId token) override {
    const State next = next_state(runs_.back().state, token);
    if (next == runs_.back().state) {
      ++runs_.back().length;
    } else {
      runs_.push_back({next, 1});
    }
  }

  void rollback(int num_tokens) override {
    for (; num_tokens > 0; --num_tokens) {
      if (runs_.back().length > 1) {
        --runs_.back().length;
      } else if (runs_.size() > 1) {
        runs_.pop_back();
      }
    }
  }

 private:
  enum class Phase : std::uint8_t { kHeader, kFreeBody, kCallBody, kDone };

  struct State {
    Phase phase = Phase::kHeader;
    int node = 0;  // kHeader
    int num_free_messages = 0;

    bool operator==(const State&) const = default;
  };

  // The same state before `length` tokens in a row. Bodies are one run, so there are few.
  struct Run {
    State state;
    int length = 0;
  };

  static constexpr std::size_t kNumReservedRuns = 128;

  const HeaderTree& headers(const State& state) const {
    return state.num_free_messages < kMaxFreeMessages ? grammar_->any_header
                                                      : grammar_->call_header;
  }

  State next_state(State state, TokenId token) const {
    if (state.phase == Phase::kFreeBody && token == grammar_->tokens.end) {
      ++state.num_free_messages;
      state.phase = Phase::kHeader;
      state.node = HeaderTree::kRoot;
    } else if (state.phase == Phase::kCallBody && token == grammar_->tokens.call) {
      state.phase = Phase::kDone;
    } else if (state.phase == Phase::kHeader) {
      const int node = headers(state).child(state.node, token);
      const Body body = node < 0 ? Body::kNone : headers(state).body(node);
      if (node < 0) {
        state.phase = Phase::kDone;
      } else if (body != Body::kNone) {
        state.phase = body == Body::kCall ? Phase::kCallBody : Phase::kFreeBody;
      }
      state.node = node;
    }
    return state;
  }

  void forbid_special(std::span<std::uint32_t> mask, TokenId allowed) const {
    for (const TokenId token : grammar_->special_ids) {
      const auto word = static_cast<std::size_t>(token) / 32;
      if (token != allowed && word < mask.size()) {
        mask[word] &= ~(1U << (static_cast<std::uint32_t>(token) % 32));
      }
    }
  }

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Run> runs_;  // the state before each token, and the one now
};

std::vector<std::string> chosen_names(const ChatOptions& options) {
  const HarmonyToolNames names(options);
  std::vector<std::string> chosen;
  for (const ToolDeclaration& tool : options.tools) {
    if (options.tool_choice.kind != ToolChoice::Kind::kNamed ||
        tool.name == options.tool_choice.name) {
      chosen.push_back(names.in_prompt(tool.name));
    }
  }
  return chosen;
}

Grammar make_grammar(
    const Tokenizer& tokenizer, const HarmonyTokens& tokens, const std::vector<std::string>& names
) {
  Grammar grammar;
  grammar.tokens = tokens;
  for (TokenId token = 0; token < tokenizer.vocab_size(); ++token) {
    if (tokenizer.is_special(token)) {
      grammar.special_ids.push_back(token);
    }
  }
  const Ids message = {tokens.message};
  const auto marked = [&tokenizer](TokenId mark, std::string_view text) {
    Ids ids = {mark};
    const Ids more = tokenizer.encode(text);
    ids.insert(ids.end(), more.begin(), more.end());
    return ids;
  };
  const Ids begin = marked(tokens.start, harmony_role_name(HarmonyRole::kAssistant));
  const Ids analysis = marked(tokens.channel, kHarmonyAnalysis);
  const Ids commentary = marked(tokens.channel, kHarmonyCommentary);
  Ids constrained = tokenizer.encode(" ");
  const Ids json = marked(tokens.constrain, "json");
  constrained.insert(constrained.end(), json.begin(), json.end());
  const std::array<Ids, 3> types = {constrained, tokenizer.encode(" json"), Ids{}};
  for (const std::string& name : names) {
    const Ids recipient = tokenizer.encode(" to=functions." + name);
    for (const Ids& type : types) {
      for (HeaderTree* headers : {&grammar.any_header, &grammar.call_header}) {
        headers->add({&begin, &recipient, &commentary, &type, &message}, Body::kCall);
        headers->add({&begin, &commentary, &recipient, &type, &message}, Body::kCall);
      }
    }
  }
  grammar.any_header.add({&begin, &analysis, &message}, Body::kFree);
  grammar.any_header.add({&begin, &commentary, &message}, Body::kFree);
  for (const TokenId token : begin) {
    grammar.first_node = grammar.any_header.child(grammar.first_node, token);
  }
  return grammar;
}

}  // namespace

std::function<std::unique_ptr<TokenConstraint>()> make_harmony_constraint(
    const Tokenizer& tokenizer, const HarmonyTokens& tokens, const ChatOptions& options
) {
  const ToolChoice::Kind kind = options.tool_choice.kind;
  if (kind != ToolChoice::Kind::kRequired && kind != ToolChoice::Kind::kNamed) {
    return {};
  }
  const auto grammar =
      std::make_shared<const Grammar>(make_grammar(tokenizer, tokens, chosen_names(options)));
  return [grammar] { return std::make_unique<HarmonyConstraint>(grammar); };
}

}  // namespace rapt
