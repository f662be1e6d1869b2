#include "kernels/rope.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace rapt {
namespace {

YarnParams gpt_oss_yarn() {
  return YarnParams{.factor = 32.0, .truncate = false};
}

TEST(Rope, YarnFrequenciesAreThoseOfGptOss) {
  const RopeSpec spec = yarn_rope(64, 150000.0, gpt_oss_yarn());
  ASSERT_EQ(spec.inv_freq.size(), 32U);
  const std::array<std::pair<int, double>, 8> expected = {{
      {0, 1.0},
      {1, 6.8904430589e-1},
      {9, 3.1705696185e-2},
      {12, 6.7949594897e-3},
      {14, 2.0937923790e-3},
      {17, 1.2931870125e-4},
      {18, 3.8308812374e-5},
      {31, 3.0235114281e-7},
  }};
  for (const auto& [pair_idx, freq] : expected) {
    EXPECT_NEAR(spec.inv_freq[static_cast<std::size_t>(pair_idx)] / freq, 1.0, 1e-10) << pair_idx;
  }
  EXPECT_NEAR(spec.amplitude, 1.3465735902799727, 1e-15);
}

TEST(Rope, TruncatedYarnRoundsTheRamp) {
  YarnParams yarn = gpt_oss_yarn();
  yarn.truncate = true;
  const RopeSpec spec = yarn_rope(64, 150000.0, yarn);
  EXPECT_NEAR(spec.inv_freq[17] / 2.2794780e-4, 1.0, 1e-6);
  EXPECT_NEAR(spec.inv_freq[9] / 3.1620752e-2, 1.0, 1e-6);
}

TEST(Rope, TableHoldsTheKnownValues) {
  ThreadPool pool(2);
  const Stream stream{&pool, CpuLevel::kScalar};
  const std::vector<std::int32_t> positions = {1, 100, 4096, 131071};
  std::vector<float> cos(4 * 32);
  std::vector<float> sin(4 * 32);
  rope_table(
      stream,
      yarn_rope(64, 150000.0, gpt_oss_yarn()),
      positions,
      Tensor(cos.data(), DType::kF32, Shape{4, 32}),
      Tensor(sin.data(), DType::kF32, Shape{4, 32})
  );
  EXPECT_NEAR(cos[0], 0.727556816, 1e-7);
  EXPECT_NEAR(sin[0], 1.133102605, 1e-7);
  EXPECT_NEAR(cos[32 + 8], 0.48560886, 1e-7);
  EXPECT_NEAR(sin[32 + 8], -1.255963562, 1e-7);
  EXPECT_NEAR(cos[64 + 12], -1.217061551, 1e-7);
  EXPECT_NEAR(sin[64 + 17], 0.680376948, 1e-7);
  EXPECT_NEAR(cos[96 + 31], 1.345516335, 1e-7);
  EXPECT_NEAR(sin[96 + 31], 0.053350026, 1e-7);
}

TEST(Rope, RotatesHalvesOfEachHead) {
  ThreadPool pool(1);
  // One token, two heads of four: pair (0, 2) turns by 90 degrees, pair (1, 3) stays.
  std::vector<float> cos = {0.0F, 1.0F};
  std::vector<float> sin = {1.0F, 0.0F};
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  apply_rope(
      Stream{&pool, CpuLevel::kReference},
      Tensor(cos.data(), DType::kF32, Shape{1, 2}),
      Tensor(sin.data(), DType::kF32, Shape{1, 2}),
      Tensor(x.data(), DType::kF32, Shape{1, 2, 4})
  );
  EXPECT_EQ(x, (std::vector<float>{-3, 2, 1, 4, -7, 6, 5, 8}));
}

TEST(LinearRope, TurnsAllPairsSlower) {
  const RopeSpec plain = plain_rope(16, 10000.0);
  const RopeSpec slow = linear_rope(16, 10000.0, 4.0);
  for (std::size_t pair_idx = 0; pair_idx < 8; ++pair_idx) {
    EXPECT_EQ(slow.inv_freq[pair_idx], plain.inv_freq[pair_idx] / 4.0);
  }
}

// The numbers of Llama 3.1: pairs with wavelengths below 2,048 keep their frequency, those above
// 8,192 lose a factor of 8.
TEST(Llama3Rope, KeepsFastPairsAndSlowsSlowOnes) {
  const RopeSpec plain = plain_rope(128, 500000.0);
  const RopeSpec spec = llama3_rope(128, 500000.0, Llama3RopeParams{});
  ASSERT_EQ(spec.inv_freq.size(), 64U);
  int num_kept = 0;
  int num_slowed = 0;
  for (std::size_t pair_idx = 0; pair_idx < 64; ++pair_idx) {
    const double wavelength = 2.0 * 3.14159265358979323846 / plain.inv_freq[pair_idx];
    const double ratio = spec.inv_freq[pair_idx] / plain.inv_freq[pair_idx];
    if (wavelength < 2048.0) {
      EXPECT_EQ(ratio, 1.0);
      ++num_kept;
    } else if (wavelength > 8192.0) {
      EXPECT_NEAR(ratio, 0.125, 1e-15);
      ++num_slowed;
    } else {
      EXPECT_GT(ratio, 0.125);
      EXPECT_LT(ratio, 1.0);
    }
  }
  EXPECT_EQ(num_kept, 29);
  EXPECT_EQ(num_slowed, 29);
}

TEST(HalvePairs, PutsNeighboursIntoHalves) {
  ThreadPool pool(2);
  std::vector<float> x;
  for (int idx = 0; idx < 3 * 2 * 6; ++idx) {
    x.push_back(static_cast<float>(idx));
  }
  halve_pairs(Stream{&pool, CpuLevel::kReference}, Tensor(x.data(), DType::kF32, Shape{3, 2, 6}));
  for (int head_idx = 0; head_idx < 6; ++head_idx) {
    const int first = head_idx * 6;
    const int expected[] = {first, first + 2, first + 4, first + 1, first + 3, first + 5};
    for (int idx = 0; idx < 6; ++idx) {
      EXPECT_EQ(x[static_cast<std::size_t>(first + idx)], static_cast<float>(expected[idx]));
    }
  }
}

}  // namespace
}  // namespace rapt
