#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/chat/harmony/harmony_message_internal.h"
#include "text/text_cases_internal.h"

namespace rapt {
namespace {

constexpr int kVocabSize = 201'088;

const HarmonyTokens& tokens() {
  static const HarmonyTokens found = *HarmonyTokens::find_in(test_tokenizer());
  return found;
}

const ChatFormat& format() {
  static const std::unique_ptr<ChatFormat> made = *make_chat_format("harmony", test_tokenizer());
  return *made;
}

ChatOptions choosing(ToolChoice choice) {
  ChatOptions options;
  options.tools = {{"get"}, {"get_weather"}, {"python"}};
  options.tool_choice = std::move(choice);
  return options;
}

const ToolChoice kRequired = {ToolChoice::Kind::kRequired};

std::vector<std::uint32_t> mask_of(TokenConstraint& constraint) {
  std::vector<std::uint32_t> mask(kVocabSize / 32, ~0U);
  constraint.fill_mask(mask);
  return mask;
}

bool is_set(const std::vector<std::uint32_t>& mask, TokenId id) {
  return (mask[static_cast<std::size_t>(id) / 32] >> (id % 32) & 1U) != 0;
}

std::vector<TokenId> set_bits(const std::vector<std::uint32_t>& mask) {
  std::vector<TokenId> ids;
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (std::uint32_t bits = mask[word]; bits != 0; bits &= bits - 1) {
      ids.push_back(static_cast<TokenId>(word * 32) + std::countr_zero(bits));
    }
  }
  return ids;
}

std::vector<TokenId> allowed(TokenConstraint& constraint) {
  return set_bits(mask_of(constraint));
}

// Whether every token of `stream`, in which control tokens are spelled out, may come in its turn.
bool accepts(TokenConstraint& constraint, std::string_view stream) {
  for (const TokenId id : test_tokenizer().encode_with_special(stream)) {
    if (!is_set(mask_of(constraint), id)) {
      return false;
    }
    constraint.accept(id);
  }
  return true;
}

bool accepts(const ToolChoice& choice, std::string_view stream) {
  return accepts(*format().make_constraint(choosing(choice))(), stream);
}

TEST(HarmonyConstraint, LeavesOtherChoicesFree) {
  EXPECT_FALSE(format().make_constraint(choosing({})));
  EXPECT_FALSE(format().make_constraint(choosing({ToolChoice::Kind::kNone})));
  EXPECT_TRUE(format().make_constraint(choosing(kRequired)));
}

TEST(HarmonyConstraint, AcceptsTheFormsThatTheModelWrites) {
  for (const char* stream : {
           "<|channel|>commentary to=functions.get <|constrain|>json<|message|>{}<|call|>",
           "<|channel|>commentary to=functions.get_weather<|message|>{\"a\": 1}<|call|>",
           " to=functions.get_weather<|channel|>commentary json<|message|>{}<|call|>",
           " to=functions.get<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
           "<|channel|>analysis<|message|>Let me "
           "think.<|end|><|start|>assistant<|channel|>commentary "
           "to=functions.use_python json<|message|>1<|call|>",
           "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|"
           ">I "
           "look.<|end|><|start|>assistant "
           "to=functions.get<|channel|>commentary<|message|>{}<|call|>",
       }) {
    EXPECT_TRUE(accepts(kRequired, stream)) << stream;
  }
}

TEST(HarmonyConstraint, RefusesEveryWayAroundTheCall) {
  const std::string call = "<|channel|>commentary to=functions.get<|message|>{}";
  for (const std::string& stream : std::vector<std::string>{
           "<|channel|>final",
           "Hello",
           "<|message|>",
           "<|return|>",
           "<|end|>",
           "<|channel|>commentary to=functions.python",
           "<|channel|>commentary to=functions.unknown",
           "<|channel|>commentary to=browser",
           "<|channel|>analysis to",
           "<|channel|>analysis<|message|>a<|return|>",
           "<|channel|>analysis<|message|>a<|call|>",
           "<|channel|>analysis<|message|>a<|endoftext|>",
           "<|channel|>analysis<|message|>a<|channel|>",
           "<|channel|>analysis<|message|>a<|end|>x",
           "<|channel|>analysis<|message|>a<|end|><|start|>user",
           "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final",
           "<|channel|>commentary<|message|>a<|return|>",
           call + "<|end|>",
           call + "<|return|>",
           call + "<|endoftext|>",
           call + "<|start|>",
       }) {
    EXPECT_FALSE(accepts(kRequired, stream)) << stream;
  }
}

TEST(HarmonyConstraint, HoldsANamedChoiceToItsName) {
  const ToolChoice named = {ToolChoice::Kind::kNamed, "get_weather"};
  EXPECT_TRUE(accepts(named, "<|channel|>commentary to=functions.get_weather<|message|>{}<|call|>")
  );
  EXPECT_FALSE(accepts(named, "<|channel|>commentary to=functions.get<|message|>"));
  EXPECT_FALSE(accepts(named, " to=functions.get<|channel|>"));
  const ToolChoice aliased = {ToolChoice::Kind::kNamed, "python"};
  EXPECT_TRUE(accepts(aliased, " to=functions.use_python<|channel|>commentary<|message|>1<|call|>")
  );
}

TEST(HarmonyConstraint, LetsNoTurnThinkForEver) {
  const auto constraint = format().make_constraint(choosing(kRequired))();
  const std::string thought = "<|channel|>analysis<|message|>a<|end|><|start|>assistant";
  EXPECT_TRUE(accepts(*constraint, thought + thought + thought + thought));
  EXPECT_FALSE(accepts(*constraint, "<|channel|>analysis"));
  const auto other = format().make_constraint(choosing(kRequired))();
  EXPECT_TRUE(accepts(*other, thought + thought + thought + thought + "<|channel|>commentary to"));
}

TEST(HarmonyConstraint, IsFreeAfterTheCall) {
  const auto constraint = format().make_constraint(choosing(kRequired))();
  EXPECT_TRUE(accepts(*constraint, " to=functions.get<|channel|>commentary<|message|>{}<|call|>"));
  EXPECT_EQ(allowed(*constraint).size(), std::size_t(kVocabSize));
}

TEST(HarmonyConstraint, GoesBackToWhereItWas) {
  const auto ids = test_tokenizer().encode_with_special(
      "<|channel|>analysis<|message|>a b c d e<|end|><|start|>assistant to=functions.get_weather"
      "<|channel|>commentary json<|message|>{\"city\": \"Oslo\"}<|call|> and on"
  );
  const auto constraint = format().make_constraint(choosing(kRequired))();
  std::vector<std::vector<TokenId>> before;
  for (const TokenId id : ids) {
    before.push_back(allowed(*constraint));
    constraint->accept(id);
  }
  for (std::size_t i = ids.size(); i > 0; --i) {
    constraint->rollback(1);
    ASSERT_EQ(allowed(*constraint), before[i - 1]) << i;
  }
  constraint->accept(ids[0]);
  constraint->accept(ids[1]);
  constraint->rollback(2);
  EXPECT_EQ(allowed(*constraint), before[0]);
}

TEST(HarmonyConstraint, NeverForbidsEverything) {
  const auto constraint = format().make_constraint(choosing(kRequired))();
  std::vector<std::uint32_t> small(4, ~0U);
  constraint->fill_mask(small);
  EXPECT_EQ(small, std::vector<std::uint32_t>(4, ~0U)) << "a vocabulary without control tokens";
  constraint->accept(13225);
  EXPECT_EQ(allowed(*constraint).size(), std::size_t(kVocabSize)) << "a token that was forbidden";
  EXPECT_TRUE(accepts(*constraint, "<|channel|>final<|message|>"));
}

// A model that likes control tokens more than anything, and else draws from what is left. -1 when
// nothing is.
TokenId draw(const std::vector<std::uint32_t>& mask, CaseRandom& random) {
  const std::vector<TokenId> liked = {
      tokens().end_of_turn,
      tokens().call,
      tokens().end,
      tokens().channel,
      tokens().start,
      tokens().message,
      17196};
  const TokenId wish = liked[random.below(liked.size())];
  if (random.below(3) == 0 && is_set(mask, wish)) {
    return wish;
  }
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto id = static_cast<TokenId>(random.below(kVocabSize));
    if (is_set(mask, id)) {
      return id;
    }
  }
  const std::vector<TokenId> ids = set_bits(mask);
  return ids.empty() ? -1 : ids[random.below(ids.size())];
}

TEST(HarmonyConstraint, MakesACallOfAnyModel) {
  CaseRandom random(5);
  for (int round = 0; round < 60; ++round) {
    const bool is_named = round % 2 == 0;
    const ChatOptions options =
        choosing(is_named ? ToolChoice{ToolChoice::Kind::kNamed, "python"} : kRequired);
    const auto constraint = format().make_constraint(options)();
    const auto parser = format().make_parser(options, "seed");
    std::vector<ToolCall> calls;
    int num_tokens = 0;
    for (TokenId id = 0; id != tokens().call && num_tokens < 400; ++num_tokens) {
      id = draw(mask_of(*constraint), random);
      ASSERT_GE(id, 0);
      constraint->accept(id);
      add_deltas(calls, parser->push(id).tool_calls);
    }
    add_deltas(calls, parser->finish().tool_calls);
    ASSERT_LT(num_tokens, 400);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_TRUE(
        is_named
            ? calls[0].name == "python"
            : calls[0].name == "get" || calls[0].name == "get_weather" || calls[0].name == "python"
    );
  }
}

}  // namespace
}  // namespace rapt
