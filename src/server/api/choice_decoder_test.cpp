#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/choice_decoder_internal.h"
#include "server/testing/fake_text_internal.h"

namespace rapt {
namespace {

TokenEvent token_event(TokenId token) {
  TokenEvent event;
  event.token = token;
  event.logprob = TokenLogprob{token, -1.0F, 1};
  return event;
}

// Runs the tokens through the decoder and joins the pieces; the last token carries `finish`.
ChoicePiece decode(
    ChoiceDecoder& decoder, const std::vector<TokenId>& ids, FinishInfo finish = {}
) {
  ChoicePiece whole;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    TokenEvent event = token_event(ids[i]);
    if (i + 1 == ids.size()) {
      event.finish = finish;
    }
    ChoicePiece piece;
    decoder.push(event, piece);
    whole.append(std::move(piece));
  }
  return whole;
}

std::vector<TokenId> logprob_tokens(const ChoicePiece& piece) {
  std::vector<TokenId> ids;
  for (const LogprobEntry& entry : piece.logprobs) {
    ids.push_back(entry.drawn.token);
  }
  return ids;
}

class ChoiceDecoderTest : public ::testing::Test {
 protected:
  FakeTokenizer tokenizer;
  FakeChatFormat format{tokenizer};
};

TEST_F(ChoiceDecoderTest, TextNeverHoldsHalfACharacter) {
  const auto decoder = make_text_decoder(&tokenizer, {});
  const std::string euro = "\xE2\x82\xAC";
  ChoicePiece first;
  decoder->push(token_event(0xE2), first);
  decoder->push(token_event(0x82), first);
  EXPECT_EQ(first.text, "");
  decoder->push(token_event(0xAC), first);
  EXPECT_EQ(first.text, euro);
}

TEST_F(ChoiceDecoderTest, AnUnfinishedCharacterAtTheEndIsReplaced) {
  const auto decoder = make_text_decoder(&tokenizer, {});
  EXPECT_EQ(decode(*decoder, {'a', 0xE2}).text, "a\xEF\xBF\xBD");
}

TEST_F(ChoiceDecoderTest, TextIsCutBeforeTheStopString) {
  const auto decoder = make_text_decoder(&tokenizer, {.stop_strings = {"END"}});
  const ChoicePiece piece = decode(*decoder, tokenizer.encode("so END"), {.stop_string = 0});
  EXPECT_EQ(piece.text, "so ");
  EXPECT_EQ(piece.num_tokens, 6);
}

TEST_F(ChoiceDecoderTest, TheStopStringCanBeKept) {
  const auto decoder =
      make_text_decoder(&tokenizer, {.stop_strings = {"END"}, .include_stop = true});
  EXPECT_EQ(decode(*decoder, tokenizer.encode("so END"), {.stop_string = 0}).text, "so END");
}

TEST_F(ChoiceDecoderTest, WhatOnlyLooksLikeAStopStringComesLater) {
  const auto decoder = make_text_decoder(&tokenizer, {.stop_strings = {"END"}});
  ChoicePiece piece;
  for (const char c : std::string("EN")) {
    decoder->push(token_event(c), piece);
  }
  EXPECT_EQ(piece.text, "");
  decoder->push(token_event('X'), piece);
  EXPECT_EQ(piece.text, "ENX");
}

TEST_F(ChoiceDecoderTest, StopStringsDoNotCountInTheFirstTokens) {
  const auto decoder = make_text_decoder(&tokenizer, {.stop_strings = {"b"}, .min_tokens = 2});
  EXPECT_EQ(decode(*decoder, tokenizer.encode("abab"), {.stop_string = 0}).text, "aba");
}

TEST_F(ChoiceDecoderTest, AStopTokensTextIsHidden) {
  const auto decoder = make_text_decoder(&tokenizer, {});
  EXPECT_EQ(decode(*decoder, {'a', 'b'}, {.stop_token = 'b'}).text, "a");
  const auto keeping = make_text_decoder(&tokenizer, {.include_stop = true});
  EXPECT_EQ(decode(*keeping, {'a', 'b'}, {.stop_token = 'b'}).text, "ab");
}

TEST_F(ChoiceDecoderTest, SpecialTokensShowOnRequest) {
  const auto decoder = make_text_decoder(&tokenizer, {.keep_special = true});
  EXPECT_EQ(decode(*decoder, {'a', FakeTokenizer::kStart, 'b'}).text, "a<|start|>b");
}

TEST_F(ChoiceDecoderTest, TextOffsetsCountCharacters) {
  const auto decoder = make_text_decoder(&tokenizer, {.text_offset = 10});
  const ChoicePiece piece = decode(*decoder, tokenizer.encode("\xC3\xA4x"));
  ASSERT_EQ(piece.logprobs.size(), 3U);
  EXPECT_EQ(piece.logprobs[0].text_offset, 10);
  EXPECT_EQ(piece.logprobs[1].text_offset, 10);
  EXPECT_EQ(piece.logprobs[2].text_offset, 11);
}

TEST_F(ChoiceDecoderTest, WithoutATokenizerThereAreIdsOnly) {
  const auto decoder = make_text_decoder(nullptr, {.keep_token_ids = true});
  const ChoicePiece piece = decode(*decoder, {5, 6});
  EXPECT_EQ(piece.text, "");
  EXPECT_THAT(piece.token_ids, ::testing::ElementsAre(5, 6));
}

TEST_F(ChoiceDecoderTest, ChatSplitsReasoningAndContent) {
  const auto decoder = make_chat_decoder(tokenizer, format.make_parser(), {});
  const ChoicePiece piece =
      decode(*decoder, fake_chat_answer("hm", "yes"), {.stop_token = FakeTokenizer::kEnd});
  EXPECT_EQ(piece.reasoning, "hm");
  EXPECT_EQ(piece.text, "yes");
  EXPECT_EQ(piece.num_tokens, 8);
  EXPECT_EQ(piece.num_reasoning_tokens, 3);
}

TEST_F(ChoiceDecoderTest, ChatLogprobsAreThoseOfTheContent) {
  const auto decoder = make_chat_decoder(tokenizer, format.make_parser(), {});
  const ChoicePiece piece = decode(*decoder, fake_chat_answer("hm", "\xC3\xA4y"));
  EXPECT_THAT(logprob_tokens(piece), ::testing::ElementsAre(0xC3, 0xA4, 'y'));
}

TEST_F(ChoiceDecoderTest, ChatLogprobsIncludeAnUnfinishedCharacter) {
  const auto decoder = make_chat_decoder(tokenizer, format.make_parser(), {});
  const ChoicePiece piece = decode(*decoder, {'x', 0xC3});
  EXPECT_EQ(piece.text, "x\xEF\xBF\xBD");
  EXPECT_THAT(logprob_tokens(piece), ::testing::ElementsAre('x', 0xC3));
}

TEST_F(ChoiceDecoderTest, ChatStopStringsLookAtContentOnly) {
  const auto decoder = make_chat_decoder(tokenizer, format.make_parser(), {.stop_strings = {"m"}});
  std::vector<TokenId> ids = fake_chat_answer("hm", "am");
  ids.pop_back();
  const ChoicePiece piece = decode(*decoder, ids, {.stop_string = 0});
  EXPECT_EQ(piece.reasoning, "hm");
  EXPECT_EQ(piece.text, "a");
}

TEST(ChoicePiece, KnowsWhetherThereIsNews) {
  ChoicePiece piece;
  EXPECT_TRUE(piece.empty());
  piece.num_tokens = 1;
  EXPECT_TRUE(piece.empty());
  piece.finish = FinishInfo();
  EXPECT_FALSE(piece.empty());
}

}  // namespace
}  // namespace rapt
