#include <gtest/gtest.h>

#include "text/utf8_internal.h"

namespace rapt {
namespace {

TEST(Utf8, KeepsWellFormedText) {
  for (const char* text :
       {"", "plain", "é", "\u0800", "日本語", "\uFFFF", "👍🏽", "\U0010FFFF"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << text;
    EXPECT_EQ(to_valid_utf8(text), text);
  }
  const std::string long_text = std::string(1000, 'a') + "é" + std::string(1000, 'b');
  EXPECT_EQ(to_valid_utf8(long_text), long_text);
}

// The expected texts are what Python's bytes.decode("utf-8", errors="replace") gives.
TEST(Utf8, ReplacesEachMaximalInvalidStretch) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"a\x80z", "a\uFFFDz"},                            // a continuation without a lead
      {"\xC0\xAF", "\uFFFD\uFFFD"},                      // overlong
      {"\xE0\x80\xAF", "\uFFFD\uFFFD\uFFFD"},            // overlong
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // a surrogate
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // past U+10FFFF
      {"\xF5\xFF", "\uFFFD\uFFFD"},                      // never lead bytes
      {"\xE6\x97!", "\uFFFD!"},                          // cut short: one stretch
      {"\xF0\x9F\x92z", "\uFFFDz"},
      {"\xF0\x9F\xF0\x9F\x92\x96", "\uFFFD💖"},
      {"\xC3\xC3\xA9", "\uFFFDé"},
  };
  for (const auto& [bytes, expected] : cases) {
    EXPECT_FALSE(is_valid_utf8(bytes));
    EXPECT_EQ(to_valid_utf8(bytes), expected);
  }
}

TEST(Utf8, ReplacesAnIncompleteEndByOneCharacter) {
  EXPECT_EQ(to_valid_utf8("a\xF0\x9F\x92"), "a\uFFFD");
  EXPECT_EQ(to_valid_utf8("a\xE6"), "a\uFFFD");
}

TEST(Utf8, SaysWhereAnIncompleteCharacterBegins) {
  std::string out;
  EXPECT_EQ(append_lossy("ab\xF0\x9F", out), 2U);
  EXPECT_EQ(out, "ab");
  EXPECT_EQ(append_lossy("cd", out), 2U);
  EXPECT_EQ(out, "abcd");
}

}  // namespace
}  // namespace rapt
