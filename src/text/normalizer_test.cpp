#include <gtest/gtest.h>

#include <string>

#include "text/normalizer_internal.h"

namespace rapt {
namespace {

TEST(Nfc, ComposesAndSorts) {
  EXPECT_EQ(to_nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(to_nfc("a\u0302\u0323"), "\u1EAD") << "marks are sorted first";
  EXPECT_EQ(to_nfc("\u212B"), "\u00C5");
  EXPECT_EQ(to_nfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(to_nfc("\uAC00\u11A8"), "\uAC01") << "a syllable takes one more letter";
  EXPECT_EQ(to_nfc("\u0958"), "\u0915\u093C") << "excluded from composition";
}

TEST(Nfc, LeavesWhatIsComposed) {
  for (const char* text :
       {"", "abc", "na\u00EFve caf\u00E9", "日本語 カタカナ", "Привет", "x\u0301"}) {
    EXPECT_EQ(to_nfc(text), text);
  }
}

TEST(Nfc, TakesMarksAcrossTheFastRanges) {
  EXPECT_EQ(to_nfc("abce\u0301def"), "abc\u00E9def");
  EXPECT_EQ(to_nfc("かか\u3099か"), "か\u304Cか");
  EXPECT_EQ(to_nfc("\u0301e\u0301\u0301"), "\u0301\u00E9\u0301");
}

// The reference's tables are older than these marks.
TEST(Nfc, LeavesYoungMarksAlone) {
  EXPECT_EQ(to_nfc("a\u0898\u0301\u0323"), "a\u0898\u0323\u0301");
  EXPECT_EQ(to_nfc("\U00011935\U00011930"), "\U00011935\U00011930");
}

TEST(Nfc, SortsALongRunOfMarksQuickly) {
  std::string marks = "a";
  for (int i = 0; i < 200'000; ++i) {
    marks += i % 2 == 0 ? "\u0315" : "\u0334";
  }
  const std::string sorted = to_nfc(marks);
  EXPECT_EQ(sorted.size(), marks.size());
  EXPECT_TRUE(sorted.starts_with("a\u0334\u0334"));
  EXPECT_TRUE(sorted.ends_with("\u0315\u0315"));
}

}  // namespace
}  // namespace rapt
