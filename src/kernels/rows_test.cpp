// Every CPU level must give the bits of the plain loops.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/activation.h"
#include "kernels/embedding.h"
#include "kernels/math.h"
#include "kernels/moe.h"
#include "kernels/norm.h"
#include "kernels/rope.h"

namespace rapt {
namespace {

std::vector<float> random_values(std::size_t count, float scale, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(generator);
  }
  return values;
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

Tensor view(std::vector<float>& data, Shape shape) {
  return Tensor(data.data(), DType::kF32, shape);
}

class CpuLevels : public ::testing::TestWithParam<CpuLevel> {
 protected:
  ThreadPool pool_{3};
  Stream reference_{&pool_, CpuLevel::kReference};
  Stream stream_{&pool_, GetParam()};
};

TEST_P(CpuLevels, RmsNorm) {
  for (const std::int64_t size : {1, 15, 16, 17, 64, 96, 2880}) {
    for (const std::int64_t num_tokens : {1, 5}) {
      auto x = random_values(static_cast<std::size_t>(num_tokens * size), 3.0F, 1);
      auto weight = random_values(static_cast<std::size_t>(size), 1.0F, 2);
      std::vector<float> expected(x.size());
      std::vector<float> actual(x.size());
      const Shape shape{num_tokens, size};
      rms_norm(reference_, view(x, shape), view(weight, {size}), 1e-5F, view(expected, shape));
      rms_norm(stream_, view(x, shape), view(weight, {size}), 1e-5F, view(actual, shape));
      expect_same_bits(expected, actual);
    }
  }
}

TEST_P(CpuLevels, AddRmsNormIsTheSumAndThenTheNorm) {
  for (const std::int64_t size : {1, 17, 96, 2880}) {
    for (const std::int64_t num_tokens : {1, 19}) {
      const auto count = static_cast<std::size_t>(num_tokens * size);
      auto x = random_values(count, 3.0F, 1);
      auto delta = random_values(count, 3.0F, 2);
      auto weight = random_values(static_cast<std::size_t>(size), 1.0F, 3);
      auto expected_x = x;
      std::vector<float> expected(count);
      std::vector<float> actual(count);
      const Shape shape{num_tokens, size};
      const Tensor w = view(weight, {size});
      add_in_place(reference_, view(expected_x, shape), view(delta, shape));
      rms_norm(reference_, view(expected_x, shape), w, 1e-5F, view(expected, shape));
      add_rms_norm(stream_, view(x, shape), view(delta, shape), w, 1e-5F, view(actual, shape));
      expect_same_bits(expected_x, x);
      expect_same_bits(expected, actual);
    }
  }
}

TEST_P(CpuLevels, AddInPlace) {
  for (const std::int64_t size : {1, 16, 33, 100000}) {
    auto x = random_values(static_cast<std::size_t>(size), 1.0F, 1);
    auto y = random_values(static_cast<std::size_t>(size), 1.0F, 2);
    auto expected = x;
    add_in_place(reference_, view(expected, {size}), view(y, {size}));
    add_in_place(stream_, view(x, {size}), view(y, {size}));
    expect_same_bits(expected, x);
  }
}

TEST_P(CpuLevels, CombineExperts) {
  for (const std::int64_t size : {1, 15, 48, 2880}) {
    for (const std::int64_t top_k : {1, 4, 16}) {
      constexpr std::int64_t kNumTokens = 21;
      auto out = random_values(static_cast<std::size_t>(kNumTokens * top_k * size), 5.0F, 1);
      auto weights = random_values(static_cast<std::size_t>(kNumTokens * top_k), 1.0F, 2);
      auto hidden = random_values(static_cast<std::size_t>(kNumTokens * size), 1.0F, 3);
      std::vector<std::int32_t> slots(weights.size());
      std::iota(slots.rbegin(), slots.rend(), 0);
      auto expected = hidden;
      const Tensor experts = view(out, {kNumTokens * top_k, size});
      const Tensor w = view(weights, {kNumTokens, top_k});
      combine_experts(reference_, experts, slots, w, view(expected, {kNumTokens, size}));
      combine_experts(stream_, experts, slots, w, view(hidden, {kNumTokens, size}));
      expect_same_bits(expected, hidden);
    }
  }
}

TEST_P(CpuLevels, ClampedSwiglu) {
  for (const ClampedSwiglu params : {ClampedSwiglu{}, ClampedSwiglu::plain()}) {
    for (const std::int64_t size : {1, 16, 31, 96, 2880}) {
      auto gate_up = random_values(static_cast<std::size_t>(2 * size), 6.0F, 3);
      gate_up[0] = -300.0F;
      std::vector<float> expected(static_cast<std::size_t>(size));
      std::vector<float> actual(expected.size());
      clamped_swiglu_row(CpuLevel::kReference, gate_up.data(), params, size, expected.data());
      clamped_swiglu_row(stream_.level, gate_up.data(), params, size, actual.data());
      expect_same_bits(expected, actual);
    }
  }
}

TEST_P(CpuLevels, Rope) {
  for (const std::int64_t head_dim : {2, 16, 24, 64, 128}) {
    auto x = random_values(static_cast<std::size_t>(2 * 3 * head_dim), 1.0F, 4);
    auto cos = random_values(static_cast<std::size_t>(head_dim), 1.0F, 5);
    auto sin = random_values(static_cast<std::size_t>(head_dim), 1.0F, 6);
    auto expected = x;
    const Shape table{2, head_dim / 2};
    const Shape heads{2, 3, head_dim};
    apply_rope(reference_, view(cos, table), view(sin, table), view(expected, heads));
    apply_rope(stream_, view(cos, table), view(sin, table), view(x, heads));
    expect_same_bits(expected, x);
  }
}

TEST_P(CpuLevels, ExpOverItsWholeRange) {
  std::vector<float> x;
  for (float value = -110.0F; value < 95.0F; value += 0.0137F) {
    x.push_back(value);
  }
  x.push_back(-INFINITY);
  x.push_back(INFINITY);
  x.push_back(-0.0F);
  std::vector<float> expected(x.size());
  std::vector<float> actual(x.size());
  const auto size = static_cast<std::int64_t>(x.size());
  exp_shifted(reference_, x.data(), 0.5F, size, expected.data());
  exp_shifted(stream_, x.data(), 0.5F, size, actual.data());
  expect_same_bits(expected, actual);
}

INSTANTIATE_TEST_SUITE_P(
    Levels,
    CpuLevels,
    ::testing::ValuesIn(runnable_cpu_levels()),
    [](const auto& info) { return std::string(name_of(info.param)); }
);

TEST(ClampedSwiglu, IsLlamasWithoutLimitAndOffset) {
  const std::vector<float> gate_up = {1, 2, 0, 5, -1, 1, 20, -3};
  std::vector<float> y(4);
  clamped_swiglu_row(CpuLevel::kReference, gate_up.data(), ClampedSwiglu::plain(), 4, y.data());
  EXPECT_NEAR(y[0], 2 * 0.7310585786300049, 1e-6);
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_NEAR(y[2], -0.2689414213699951, 1e-7);
  EXPECT_NEAR(y[3], -60.0, 1e-5);
}

TEST(ClampedSwiglu, HasTheKnownValues) {
  const std::vector<float> gate_up = {1, 1, 0.5F, -1, 8, 9, 7, 7, -8, -9, -1, 2, -0.3F, 0.25F};
  std::vector<float> y(7);
  clamped_swiglu_row(CpuLevel::kReference, gate_up.data(), ClampedSwiglu{}, 7, y.data());
  EXPECT_NEAR(y[0], 1.6915915318656425, 1e-6);
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_NEAR(y[2], 55.99962502642654, 1e-4);
  EXPECT_NEAR(y[3], 55.99962502642654, 1e-4);
  EXPECT_NEAR(y[4], 5.859857e-05, 1e-10);
  EXPECT_NEAR(y[5], -0.4626127022, 1e-6);
  EXPECT_NEAR(y[6], -0.1406448308, 1e-6);
}

TEST(RmsNorm, HasTheKnownFactor) {
  ThreadPool pool(1);
  std::vector<float> x = {0.5F, -1.0F, 2.0F, -3.0F};
  std::vector<float> weight(4, 1.0F);
  std::vector<float> y(4);
  rms_norm(
      Stream{&pool, CpuLevel::kReference},
      view(x, {1, 4}),
      view(weight, {4}),
      1e-5F,
      view(y, {1, 4})
  );
  EXPECT_NEAR(y[2], 2.0F * 0.5298121992, 1e-6);
}

TEST(Embed, GathersRowsOfAnyFloatType) {
  ThreadPool pool(1);
  const std::vector<std::uint16_t> bf16 = {0x3F80, 0x4000, 0x4040, 0x4080};
  const std::vector<std::uint16_t> f16 = {0x3C00, 0x4000, 0x4200, 0x4400};
  const std::vector<std::int32_t> ids = {1, 0, 1};
  for (const auto& [data, dtype] :
       {std::pair{bf16.data(), DType::kBF16}, std::pair{f16.data(), DType::kF16}}) {
    std::vector<float> out(6);
    embed(Stream{&pool}, Tensor::read_only(data, dtype, Shape{2, 2}), ids, view(out, {3, 2}));
    EXPECT_EQ(out, (std::vector<float>{3, 4, 1, 2, 3, 4}));
  }
}

}  // namespace
}  // namespace rapt
