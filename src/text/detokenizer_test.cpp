#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include "text/text_cases_internal.h"
#include "text/utf8_internal.h"

namespace rapt {
namespace {

TEST(Detokenizer, HoldsBackAnUnfinishedCharacter) {
  Detokenizer detokenizer(test_tokenizer());
  // 9552 is " \xF0\x9F", 240 and 244 are the bytes that make it a heart... or do not.
  EXPECT_EQ(detokenizer.push(9552), " ");
  EXPECT_EQ(detokenizer.push_bytes("\x92"), "");
  EXPECT_EQ(detokenizer.push_bytes("\x96!"), "💖!");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, ReplacesWhatCanNoLongerBecomeACharacter) {
  Detokenizer detokenizer(test_tokenizer());
  EXPECT_EQ(detokenizer.push(9552), " ");
  EXPECT_EQ(detokenizer.push(9552), "\uFFFD ");
  EXPECT_EQ(detokenizer.push_bytes("worked"), "\uFFFDworked");
  EXPECT_EQ(detokenizer.push_bytes("\xE6\x97"), "");
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, LeavesSpecialTokensOutUnlessAsked) {
  Detokenizer plain(test_tokenizer());
  Detokenizer with_special(test_tokenizer(), true);
  std::string plain_text;
  std::string special_text;
  for (const TokenId id : {200006, 24912, 201000, 2375, 201088, -1, 200002}) {
    plain_text += plain.push(id);
    special_text += with_special.push(id);
  }
  EXPECT_EQ(plain_text, "hello world");
  EXPECT_EQ(special_text, "<|start|>hello<|reserved_201000|> world<|return|>");
}

TEST(Detokenizer, PiecesJoinedAreTheLossyDecodingOfAllBytes) {
  CaseRandom random(5);
  for (int round = 0; round < 300; ++round) {
    Detokenizer detokenizer(test_tokenizer());
    std::string bytes;
    std::string text;
    for (std::uint64_t i = random.below(40); i > 0; --i) {
      // Low ids are single bytes and short words: most characters come in pieces, many broken.
      const auto id = static_cast<TokenId>(random.below(random.below(2) == 0 ? 256 : 199'998));
      bytes += test_tokenizer().token_bytes(id);
      const std::string piece = detokenizer.push(id);
      EXPECT_TRUE(is_valid_utf8(piece));
      text += piece;
    }
    text += detokenizer.finish();
    ASSERT_EQ(text, to_valid_utf8(bytes));
  }
}

}  // namespace
}  // namespace rapt
