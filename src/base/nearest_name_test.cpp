#include "base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace rapt {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"port", "host", "max-model-len", "top-p"};

TEST(NearestName, FindsSlipsOfTheFinger) {
  EXPECT_EQ(nearest_name("prt", kNames), "port");
  EXPECT_EQ(nearest_name("prot", kNames), "port");
  EXPECT_EQ(nearest_name("hosts", kNames), "host");
  EXPECT_EQ(nearest_name("max-model-length", kNames), "max-model-len");
  EXPECT_EQ(nearest_name("top-k", kNames), "top-p");
}

TEST(NearestName, PrefersTheNearerAndTheFirst) {
  constexpr std::array<std::string_view, 3> kClose = {"abcdef", "abcdeg", "abcdeh"};
  EXPECT_EQ(nearest_name("abcdeg", kClose), "abcdeg");
  EXPECT_EQ(nearest_name("abcdex", kClose), "abcdef");
}

TEST(NearestName, FindsNothingFarAway) {
  EXPECT_EQ(nearest_name("temperature", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

TEST(DidYouMean, MakesTheEndOfASentence) {
  EXPECT_EQ(did_you_mean("prt", kNames, "--"), "; did you mean --port?");
  EXPECT_EQ(did_you_mean("temperature", kNames), "");
}

}  // namespace
}  // namespace rapt
