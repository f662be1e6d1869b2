#include "engine/quality/text_windows.h"

#include <gtest/gtest.h>

#include <vector>

namespace rapt {
namespace {

TEST(TextWindows, StandSideBySideWhenTheStrideIsTheContext) {
  const std::vector<TextWindow> windows = split_into_windows(10, 4, 4);
  ASSERT_EQ(windows.size(), 3U);
  EXPECT_EQ(windows[0].begin, 0);
  EXPECT_EQ(windows[0].end, 4);
  EXPECT_EQ(windows[0].first_scored, 1);
  EXPECT_EQ(windows[1].begin, 4);
  EXPECT_EQ(windows[1].first_scored, 5) << "nothing stands before token 4 in its window";
  EXPECT_EQ(windows[2].end, 10);
  EXPECT_EQ(num_scored(windows), 3 + 3 + 1);
}

TEST(TextWindows, AWindowOfOneTokenPredictsNothing) {
  EXPECT_EQ(split_into_windows(9, 4, 4).size(), 2U);
  EXPECT_TRUE(split_into_windows(1, 4, 4).empty());
  EXPECT_TRUE(split_into_windows(0, 4, 4).empty());
  EXPECT_EQ(num_scored({}), 0);
}

TEST(TextWindows, ScoreEveryTokenButTheFirstOnceWhereTheyOverlap) {
  for (const int num_tokens : {2, 3, 7, 8, 9, 50, 51}) {
    for (const int context : {2, 3, 8, 64}) {
      for (int stride = 1; stride < context; ++stride) {
        std::vector<int> times(static_cast<std::size_t>(num_tokens), 0);
        for (const TextWindow& window : split_into_windows(num_tokens, context, stride)) {
          EXPECT_LE(window.end - window.begin, context);
          EXPECT_GT(window.first_scored, window.begin);
          for (int token = window.first_scored; token < window.end; ++token) {
            ++times[static_cast<std::size_t>(token)];
          }
        }
        for (std::size_t token = 0; token < times.size(); ++token) {
          ASSERT_EQ(times[token], token == 0 ? 0 : 1)
              << num_tokens << " " << context << " " << stride;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rapt
