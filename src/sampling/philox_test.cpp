#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "sampling/philox_internal.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;

// The known answers that the authors of Philox give for ten rounds.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_THAT(
      philox4x32({0, 0, 0, 0}, {0, 0}),
      ElementsAre(0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U)
  );
  constexpr std::uint32_t kOnes = 0xffffffffU;
  EXPECT_THAT(
      philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
      ElementsAre(0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU)
  );
  EXPECT_THAT(
      philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
      ElementsAre(0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U)
  );
}

TEST(UniformDraw, IsFilledFromTheHighBitsDown) {
  // The first two words of the first known answer, 53 bits of them.
  EXPECT_EQ(
      uniform_draw(0, 0, 0), static_cast<double>(0x6627e8d5e169c58dULL >> 11) / 9007199254740992.0
  );
}

TEST(UniformDraw, DependsOnSeedChoiceAndPosition) {
  std::set<double> seen;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32, 0xffffffffffffffffULL}) {
    for (int choice = 0; choice < 4; ++choice) {
      for (int position = 0; position < 100; ++position) {
        const double draw = uniform_draw(seed, choice, position);
        EXPECT_GE(draw, 0.0);
        EXPECT_LT(draw, 1.0);
        seen.insert(draw);
      }
    }
  }
  EXPECT_EQ(seen.size(), 4U * 4U * 100U);
}

}  // namespace
}  // namespace rapt
