// Float weights, on each CPU level the machine has, must give the bits of the plain loops, for any
// number of rows, threads, groups and any layout.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "quant/multiply_test_support.h"
#include "quant/weight_format.h"
#include "tensor/float_bits.h"

namespace rapt {
namespace {

using testing::CheckpointWriter;
using testing::expect_all_equal;
using testing::expect_same_bits;
using testing::multiply;
using testing::random_values;

struct Case {
  std::int64_t in_features;
  std::int64_t out_features;
  std::int64_t num_experts;  // 0: a plain matrix
};

constexpr Case kCases[] = {
    {32, 1, 0}, {64, 5, 0}, {96, 64, 0}, {288, 33, 0}, {96, 160, 4}, {160, 96, 5}, {544, 3, 2}};

std::vector<std::uint16_t> to_bf16(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) {
    bits.push_back(f32_to_bf16(value));
  }
  return bits;
}

LinearSpec spec_of(const Case& c) {
  LinearSpec spec;
  spec.in_features = c.in_features;
  spec.out_features = c.out_features;
  if (c.num_experts > 0) {
    spec.num_experts = c.num_experts;
  }
  spec.dense = "w";
  spec.bias = "b";
  return spec;
}

std::vector<std::int64_t> dims_of(const Case& c, std::vector<std::int64_t> rest) {
  if (c.num_experts > 0) {
    rest.insert(rest.begin(), c.num_experts);
  }
  return rest;
}

TEST(Multiply, DenseGivesTheSameBitsInEveryTypeAndLayout) {
  for (const Case& c : kCases) {
    const std::int64_t num_matrices = std::max<std::int64_t>(c.num_experts, 1);
    const std::int64_t size = c.out_features * c.in_features;
    const auto bf16 = to_bf16(random_values(num_matrices * size, 3));
    std::vector<float> f32;
    std::vector<float> transposed(bf16.size());
    for (const std::uint16_t bits : bf16) {
      f32.push_back(bf16_to_f32(bits));
    }
    for (std::int64_t idx = 0; idx < num_matrices * size; ++idx) {
      const std::int64_t row = idx % size / c.in_features;
      const std::int64_t column = idx % c.in_features;
      transposed[static_cast<std::size_t>(idx / size * size + column * c.out_features + row)] =
          f32[static_cast<std::size_t>(idx)];
    }
    const auto transposed_bf16 = to_bf16(transposed);
    const auto bias = random_values(num_matrices * c.out_features, 4);

    std::vector<std::vector<float>> results;
    for (const int variant : {0, 1, 2, 3}) {
      CheckpointWriter writer;
      const bool is_transposed = variant >= 2;
      const bool is_bf16 = variant % 2 == 0;
      const auto dims = is_transposed ? dims_of(c, {c.in_features, c.out_features})
                                      : dims_of(c, {c.out_features, c.in_features});
      const auto& wide = is_transposed ? transposed : f32;
      const auto& narrow = is_transposed ? transposed_bf16 : bf16;
      if (is_bf16) {
        writer.add("w", "BF16", dims, narrow.data(), narrow.size() * 2);
      } else {
        writer.add("w", "F32", dims, wide.data(), wide.size() * 4);
      }
      writer.add("b", "F32", dims_of(c, {c.out_features}), bias.data(), bias.size() * 4);
      WeightLoader loader = writer.open();
      LinearSpec spec = spec_of(c);
      spec.dense_transposed = is_transposed;
      const auto linear = *load_linear(loader, spec);
      EXPECT_EQ(linear->format(), is_bf16 ? "bf16" : "f32");
      results.push_back(expect_all_equal(*linear));
    }
    for (const auto& result : results) {
      expect_same_bits(results[0], result);
    }
  }
}

TEST(Multiply, F16DecodesAsTheConversionSays) {
  CheckpointWriter writer;
  std::vector<std::uint16_t> weights;
  for (std::uint32_t idx = 0; idx < 19 * 40; ++idx) {
    weights.push_back(static_cast<std::uint16_t>(idx * 83 % 0x7C00U | (idx % 2 << 15)));
  }
  writer.add("w", "F16", {19, 40}, weights.data(), weights.size() * 2);
  WeightLoader loader = writer.open();
  LinearSpec spec;
  spec.in_features = 40;
  spec.out_features = 19;
  spec.dense = "w";
  const auto linear = *load_linear(loader, spec);
  EXPECT_EQ(linear->format(), "f16");
  expect_all_equal(*linear);
  std::vector<float> one_hot(40, 0.0F);
  one_hot[37] = 1.0F;
  const auto column = multiply(*linear, CpuLevel::kReference, 1, one_hot, {}, 1);
  for (std::size_t row = 0; row < 19; ++row) {
    EXPECT_EQ(column[row], f16_to_f32(weights[row * 40 + 37]));
  }
}

TEST(Multiply, PartOfAStoredMatrixIsThatPart) {
  CheckpointWriter writer;
  const auto values = to_bf16(random_values(12 * 32, 5));
  const auto bias = to_bf16(random_values(12, 6));
  writer.add("w", "BF16", {12, 32}, values.data(), values.size() * 2);
  writer.add("b", "BF16", {12}, bias.data(), bias.size() * 2);
  WeightLoader loader = writer.open();
  LinearSpec whole;
  whole.in_features = 32;
  whole.out_features = 12;
  whole.dense = "w";
  whole.bias = "b";
  LinearSpec part = whole;
  part.out_features = 5;
  part.first_row = 7;
  part.stored_rows = 12;
  auto x = random_values(32, 7);
  const auto all = multiply(**load_linear(loader, whole), CpuLevel::kReference, 1, x, {}, 1);
  for (const CpuLevel level : runnable_cpu_levels()) {
    const auto some = multiply(**load_linear(loader, part), level, 1, x, {}, 1);
    expect_same_bits(std::vector<float>(all.begin() + 7, all.end()), some);
  }
}

TEST(Multiply, MissingWeightsAreNamed) {
  CheckpointWriter writer;
  const std::vector<float> values(32, 1.0F);
  writer.add("other", "F32", {1, 32}, values.data(), 128);
  WeightLoader loader = writer.open();
  LinearSpec spec;
  spec.in_features = 32;
  spec.out_features = 1;
  spec.dense = "w";
  const auto missing = load_linear(loader, spec);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("\"w\""), std::string::npos);
}

}  // namespace
}  // namespace rapt
