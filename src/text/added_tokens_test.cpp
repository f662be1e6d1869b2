#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/added_tokens_internal.h"

namespace rapt {
namespace {

// The parts in one string: "plain" or "5:text of token 5", each in brackets.
std::string cut(
    const std::vector<AddedToken>& tokens,
    std::string_view text,
    const std::vector<TextRange>& trusted = {{0, 1000}}
) {
  std::string shown;
  for (const AddedTokenCutter::Part& part : AddedTokenCutter(tokens).cut(text, trusted)) {
    shown += "[";
    if (part.id != AddedTokenCutter::kPlainText) {
      shown += std::to_string(part.id) + ":";
    }
    shown += std::string(part.text) + "]";
  }
  return shown;
}

TEST(AddedTokenCutter, CutsTextAtItsTokens) {
  const std::vector<AddedToken> tokens = {{.id = 5, .name = "<a>"}, {.id = 6, .name = "<b>"}};
  EXPECT_EQ(cut(tokens, "x<a><b>y"), "[x][5:<a>][6:<b>][y]");
  EXPECT_EQ(cut(tokens, "xy"), "[xy]");
  EXPECT_EQ(cut(tokens, ""), "");
  EXPECT_EQ(cut({}, "x<a>"), "[x<a>]");
}

TEST(AddedTokenCutter, LooksForNothingInsideAControlTokenThatIsNotAllowed) {
  const std::vector<AddedToken> tokens = {
      {.id = 5, .name = "<a>b"},
      {.id = 6, .name = "b", .in_text = AddedToken::InText::kAlways},
      {.id = 7, .name = "c", .in_text = AddedToken::InText::kNever},
  };
  EXPECT_EQ(cut(tokens, "<a>bb", {}), "[<a>b][6:b]");
  EXPECT_EQ(cut(tokens, "<a>bb"), "[5:<a>b][6:b]");
  EXPECT_EQ(cut(tokens, "acb"), "[ac][6:b]");
}

TEST(AddedTokenCutter, FindsControlTokensInTrustedTextOnly) {
  const std::vector<AddedToken> tokens = {{.id = 1, .name = "<a>"}, {.id = 2, .name = "x<"}};
  EXPECT_EQ(cut(tokens, "<a><a><a>", {{3, 6}}), "[<a>][1:<a>][<a>]");
  EXPECT_EQ(cut(tokens, "<a><a>", {{0, 2}, {2, 3}, {3, 6}}), "[<a>][1:<a>]") << "all in one range";
  EXPECT_EQ(cut(tokens, "<a>", {{1, 3}}), "[<a>]");
  EXPECT_EQ(cut(tokens, "x<a>", {{1, 4}}), "[x][1:<a>]") << "found behind one that reaches in";
}

TEST(AddedTokenCutter, SwallowsWhiteSpace) {
  const std::vector<AddedToken> tokens = {
      {.id = 1, .name = "<l>", .lstrip = true},
      {.id = 2, .name = "<r>", .rstrip = true},
  };
  EXPECT_EQ(cut(tokens, "a \u3000<l> b"), "[a][1: \u3000<l>][ b]");
  EXPECT_EQ(cut(tokens, "a <r>\u00A0\nb"), "[a ][2:<r>\u00A0\n][b]");
  EXPECT_EQ(cut(tokens, "<r>  <l>"), "[2:<r>  ][1:<l>]") << "no white space twice";
  EXPECT_EQ(cut(tokens, "  <l>"), "[1:  <l>]");
}

TEST(AddedTokenCutter, TellsWordsApart) {
  const std::vector<AddedToken> tokens = {{.id = 1, .name = "cat", .is_single_word = true}};
  EXPECT_EQ(cut(tokens, "cat"), "[1:cat]");
  EXPECT_EQ(cut(tokens, "(cat) cat"), "[(][1:cat][) ][1:cat]");
  for (const char* text :
       {"cats", "1cat", "cat_", "\u00E9cat", "cat\u0301", "\u200Dcat", "\u24D0cat"}) {
    EXPECT_EQ(cut(tokens, text), "[" + std::string(text) + "]");
  }
}

// Each token would look at all the white space that the first has swallowed.
TEST(AddedTokenCutter, TakesLinearTimeForBlanksThatAreTokens) {
  const std::vector<AddedToken> tokens = {
      {.id = 1, .name = " ", .lstrip = true, .rstrip = true},
  };
  const std::string blanks(200'000, ' ');
  const TextRange all = {0, blanks.size()};
  EXPECT_EQ(AddedTokenCutter(tokens).cut(blanks, {&all, 1}).size(), blanks.size());
}

TEST(AddedTokenCutter, TakesTheFirstOfEqualNames) {
  EXPECT_EQ(cut({{.id = 4, .name = "<a>"}, {.id = 3, .name = "<a>"}}, "<a>"), "[4:<a>]");
}

}  // namespace
}  // namespace rapt
