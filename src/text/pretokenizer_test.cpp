#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/known_patterns_internal.h"
#include "text/pretokenizer_internal.h"
#include "text/special_tokens_internal.h"
#include "text/split_pattern_internal.h"

namespace rapt {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(std::string_view pattern, std::string_view text) {
  const auto pretokenizer = Pretokenizer::compile(pattern);
  EXPECT_TRUE(pretokenizer);
  PieceReader reader(*pretokenizer, text);
  Pieces pieces;
  while (const auto piece = reader.next()) {
    pieces.emplace_back(*piece);
  }
  return pieces;
}

TEST(Pretokenizer, CutsO200kPieces) {
  EXPECT_EQ(
      split(kO200kPattern, "It's camelCase, isn't it?\n\n  12345"),
      (Pieces{"It's", " camel", "Case", ",", " isn't", " it", "?\n\n", " ", " ", "123", "45"})
  );
}

TEST(Pretokenizer, KeepsGapsBetweenMatchesAsPieces) {
  EXPECT_EQ(split("b+", "aabbacb"), (Pieces{"aa", "bb", "ac", "b"}));
  EXPECT_EQ(split("b+", "xyz"), Pieces{"xyz"});
  EXPECT_EQ(split("b*", "xby"), (Pieces{"x", "b", "y"})) << "empty matches are none";
  EXPECT_EQ(split("b+", ""), Pieces{});
}

TEST(Pretokenizer, CutsWithOnePatternAfterTheOther) {
  const std::vector<std::string_view> patterns = {"[0-9]", "x+$", " ?[a-z]+"};
  const auto pretokenizer = Pretokenizer::compile(patterns);
  ASSERT_TRUE(pretokenizer);
  const auto pieces_of = [&](std::string_view text) {
    PieceReader reader(*pretokenizer, text);
    Pieces pieces;
    while (const auto piece = reader.next()) {
      pieces.emplace_back(*piece);
    }
    return pieces;
  };
  EXPECT_EQ(pieces_of(""), Pieces{});
  EXPECT_EQ(pieces_of("12"), (Pieces{"1", "2"}));
  EXPECT_EQ(pieces_of("ab cxx1 xx."), (Pieces{"ab", " c", "xx", "1", " xx", "."}))
      << "where the first pattern cut is an end for the second";
}

TEST(Pretokenizer, GivesTheRestWholeWhenAPatternRunsAway) {
  const std::string text = std::string(40, 'a') + "c";
  Pieces pieces = split("(a*)*b", text);
  std::string joined;
  for (const std::string& piece : pieces) {
    joined += piece;
  }
  EXPECT_EQ(joined, text);
}

TEST(SplitPattern, MeansWhiteSpaceByBlank) {
  const std::string blanks =
      "\t\n\v\f\r \u0085\u00A0\u1680\u2000\u200A\u2028\u2029\u202F\u205F\u3000";
  EXPECT_EQ(split(R"(\s+)", "a" + blanks + "b"), (Pieces{"a", blanks, "b"}));
  EXPECT_EQ(split(R"([\s]+)", "a\u180E\u200B\uFEFF\u001Cb").size(), 1U);
  EXPECT_EQ(split(R"(\S+)", "a\u180Eb c"), (Pieces{"a\u180Eb", " ", "c"}));
}

TEST(SplitPattern, KnowsYoungLetters) {
  const std::string young = "\U00031861\U000105C0";  // Unicode 15 and 16
  EXPECT_EQ(split(R"(\p{L}+)", "1" + young + "1"), (Pieces{"1", young, "1"}));
  EXPECT_EQ(split(R"([^\s\p{L}]+)", "1" + young), (Pieces{"1", young}));
  EXPECT_EQ(split(R"(\P{L}+)", "1" + young), (Pieces{"1", young}));
  EXPECT_EQ(split(R"(\pL+)", "1" + young), (Pieces{"1", young}));
}

TEST(SplitPattern, LeavesOtherEscapesAlone) {
  EXPECT_EQ(*to_pcre2_pattern(R"(\\s\]\p{Han}[\]]\d)"), R"(\\s\]\p{Han}[\]]\d)");
  EXPECT_EQ(*to_pcre2_pattern("\\"), "\\");
  EXPECT_EQ(*to_pcre2_pattern(R"(\p{L)"), R"(\p{L)");
}

TEST(SplitPattern, RefusesNegationsInsideAClass) {
  EXPECT_FALSE(to_pcre2_pattern(R"([a\S])"));
  const auto result = to_pcre2_pattern(R"([^\P{L}])");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find(R"(\P{L})"), std::string::npos);
}

TEST(NameMatcher, FindsTheLeftmostThenTheLongest) {
  const NameMatcher matcher({{"<a>", 1}, {"<a>b", 2}, {"<b>", 3}, {"<", 4}});
  const auto match = matcher.find("x<a>bc<b>", 0);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->id, 2);
  EXPECT_EQ(match->begin, 1U);
  EXPECT_EQ(match->end, 5U);
  EXPECT_EQ(matcher.find("x<a>bc<b>", match->end)->id, 3);
  EXPECT_EQ(matcher.find("<a", 0)->id, 4);
  EXPECT_FALSE(matcher.find("nothing", 0));
  EXPECT_FALSE(NameMatcher().find("<", 0));
}

TEST(NameMatcher, FindsExactNames) {
  const NameMatcher matcher({{"<a>", 1}, {"<a>b", 2}});
  EXPECT_EQ(matcher.find_exact("<a>"), 1);
  EXPECT_EQ(matcher.find_exact("<a>b"), 2);
  EXPECT_FALSE(matcher.find_exact("<a>bc"));
  EXPECT_FALSE(matcher.find_exact("<a"));
  EXPECT_FALSE(matcher.find_exact(""));
}

}  // namespace
}  // namespace rapt
