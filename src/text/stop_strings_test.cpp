#include "text/stop_strings.h"

#include <gtest/gtest.h>

#include "text/text_cases_internal.h"

namespace rapt {
namespace {

TEST(StopStringScanner, FindsAStopStringAcrossPushes) {
  StopStringScanner scanner({"STOP"});
  EXPECT_FALSE(scanner.push("go on S"));
  EXPECT_EQ(scanner.held_back(), 1U);
  EXPECT_FALSE(scanner.push("TO"));
  EXPECT_EQ(scanner.held_back(), 3U);
  const auto hit = scanner.push("P and more");
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->stop_idx, 0);
  EXPECT_EQ(hit->begin, 6U);
  EXPECT_EQ(hit->end, 10U);
}

TEST(StopStringScanner, TakesTheEarliestEnd) {
  StopStringScanner scanner({"longer one", "er"});
  const auto hit = scanner.push("a longer one");
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->stop_idx, 1);
  EXPECT_EQ(hit->end, 8U);
}

TEST(StopStringScanner, TiesGoToTheLongerThenToTheLowerIndex) {
  StopStringScanner scanner({"b", "ab", "ab"});
  const auto hit = scanner.push("xab");
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->stop_idx, 1);
  EXPECT_EQ(hit->begin, 1U);
}

TEST(StopStringScanner, FallsBackToShorterBeginnings) {
  StopStringScanner scanner({"aab"});
  EXPECT_FALSE(scanner.push("aaaa"));
  EXPECT_EQ(scanner.held_back(), 2U);
  EXPECT_TRUE(scanner.push("b"));
}

TEST(StopStringScanner, PassedTextEndsNothingButMayBeginSomething) {
  StopStringScanner scanner({"ab"});
  scanner.pass("ab ab a");
  EXPECT_EQ(scanner.held_back(), 1U);
  const auto hit = scanner.push("b");
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->begin, 6U);
}

// Against the plainest possible search, over a two-letter alphabet that makes overlaps common.
TEST(StopStringScanner, AgreesWithSearchingTheWholeText) {
  CaseRandom random(11);
  const auto draw = [&](std::uint64_t min_size, std::uint64_t max_size) {
    std::string text(min_size + random.below(max_size - min_size + 1), 'a');
    for (char& c : text) {
      c = random.below(2) == 0 ? 'a' : 'b';
    }
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    const std::vector<std::string> stops = {draw(1, 6), draw(1, 6), draw(2, 9)};
    const std::string text = draw(0, 30);
    std::size_t expected_end = std::string::npos;
    for (const std::string& stop : stops) {
      const std::size_t found = text.find(stop);
      expected_end =
          std::min(expected_end, found == std::string::npos ? found : found + stop.size());
    }
    StopStringScanner scanner(stops);
    StopTextFilter filter(stops, true);
    std::string shown;
    std::optional<StopStringScanner::Hit> hit;
    for (std::size_t pos = 0; pos < text.size();) {
      const std::size_t size = 1 + random.below(4);
      const std::string piece = text.substr(pos, size);
      hit = scanner.push(piece);
      shown += filter.push(piece);
      pos += size;
    }
    shown += filter.finish();
    ASSERT_EQ(hit ? hit->end : std::string::npos, expected_end);
    ASSERT_EQ(filter.stopped(), hit.has_value());
    ASSERT_EQ(shown, text.substr(0, expected_end));
  }
}

TEST(StopTextFilter, ShowsNothingThatMayBePartOfAStop) {
  StopTextFilter filter({"\n\nEnd"}, false);
  EXPECT_EQ(filter.push("Text\n"), "Text");
  EXPECT_EQ(filter.push("more\n\nE"), "\nmore");
  EXPECT_EQ(filter.push("nough\n\n"), "\n\nEnough");
  EXPECT_EQ(filter.push("End of it"), "");
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(filter.push("lost"), "");
  EXPECT_EQ(filter.finish(), "");
}

TEST(StopTextFilter, GivesOutWhatItHeldAtTheEnd) {
  StopTextFilter filter({"stop"}, false);
  EXPECT_EQ(filter.push("do not sto"), "do not ");
  EXPECT_EQ(filter.finish(), "sto");
  EXPECT_FALSE(filter.stopped());
}

TEST(StopTextFilter, PassesTextOfTheFirstTokens) {
  StopTextFilter filter({"stop"}, false);
  EXPECT_EQ(filter.pass("stop st"), "stop ");
  EXPECT_EQ(filter.push("ay stop"), "stay ");
  EXPECT_TRUE(filter.stopped());
}

TEST(TextStopMatcher, ReportsTheTokenThatCompletesAStop) {
  const Tokenizer& tokenizer = test_tokenizer();
  const auto matcher = make_text_stop_matcher(tokenizer, {"zzz", "lo wo"});
  EXPECT_EQ(matcher->accept(24912), std::nullopt);  // "hello"
  EXPECT_EQ(matcher->accept(200006), std::nullopt);
  EXPECT_EQ(matcher->accept(2375), 1);  // " world"
}

TEST(TextStopMatcher, SeesNamesOfSpecialTokensOnlyWhenTheTextHasThem) {
  const Tokenizer& tokenizer = test_tokenizer();
  const auto hidden = make_text_stop_matcher(tokenizer, {"<|end|>"});
  EXPECT_EQ(hidden->accept(200007), std::nullopt);
  const auto shown = make_text_stop_matcher(tokenizer, {"<|end|>", "lo wo"}, 0, true);
  EXPECT_EQ(shown->accept(24912), std::nullopt);  // "hello"
  EXPECT_EQ(shown->accept(200007), 0);
  const auto parted = make_text_stop_matcher(tokenizer, {"lo wo"}, 0, true);
  EXPECT_EQ(parted->accept(24912), std::nullopt);
  EXPECT_EQ(parted->accept(200006), std::nullopt);
  EXPECT_EQ(parted->accept(2375), std::nullopt) << "a special token's name stands between";
}

TEST(TextStopMatcher, IgnoresStopsInsideTheFirstTokens) {
  const Tokenizer& tokenizer = test_tokenizer();
  const auto matcher = make_text_stop_matcher(tokenizer, {"hello"}, 2);
  EXPECT_EQ(matcher->accept(24912), std::nullopt);
  EXPECT_EQ(matcher->accept(2375), std::nullopt);
  EXPECT_EQ(matcher->accept(24912), 0);
}

}  // namespace
}  // namespace rapt
