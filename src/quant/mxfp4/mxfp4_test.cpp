#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "quant/multiply_test_support.h"
#include "quant/mxfp4/format_internal.h"
#include "quant/weight_format.h"
#include "support/block_vectors.h"

namespace rapt {
namespace {

using testing::CheckpointWriter;
using testing::expect_all_equal;
using testing::expect_same_bits;

struct Case {
  std::int64_t in_features;
  std::int64_t out_features;
  std::int64_t num_experts;  // 0: a plain matrix
};

constexpr Case kCases[] = {
    {32, 1, 0}, {64, 5, 0}, {96, 64, 0}, {288, 33, 0}, {96, 160, 4}, {160, 96, 5}, {544, 3, 2}};

TEST(Mxfp4, EqualsItsDecodedValues) {
  for (const Case& c : kCases) {
    const std::int64_t num_matrices = std::max<std::int64_t>(c.num_experts, 1);
    const std::int64_t num_blocks = num_matrices * c.out_features * c.in_features / 32;
    std::mt19937 generator(8);
    std::vector<std::uint8_t> blocks(static_cast<std::size_t>(num_blocks * 16));
    std::vector<std::uint8_t> scales(static_cast<std::size_t>(num_blocks));
    for (auto& byte : blocks) {
      byte = static_cast<std::uint8_t>(generator());
    }
    for (auto& byte : scales) {
      byte = static_cast<std::uint8_t>(118 + generator() % 9);
    }
    scales[0] = 0;
    // The same values as a float matrix, decoded from the format's definition.
    constexpr float kCodes[16] = {0, .5F, 1, 1.5F, 2, 3, 4, 6, 0, -.5F, -1, -1.5F, -2, -3, -4, -6};
    std::vector<float> decoded;
    for (std::size_t block = 0; block < scales.size(); ++block) {
      for (std::size_t idx = 0; idx < 32; ++idx) {
        const std::uint8_t pair = blocks[block * 16 + idx / 2];
        const unsigned code = idx % 2 == 0 ? pair & 15U : pair >> 4U;
        decoded.push_back(kCodes[code] * std::ldexp(1.0F, scales[block] - 127));
      }
    }
    CheckpointWriter writer;
    writer.add(
        "w_blocks",
        "U8",
        {num_matrices, c.out_features, c.in_features / 32, 16},
        blocks.data(),
        blocks.size()
    );
    writer.add(
        "w_scales",
        "U8",
        {num_matrices, c.out_features, c.in_features / 32},
        scales.data(),
        scales.size()
    );
    writer.add(
        "d",
        "F32",
        {num_matrices, c.out_features, c.in_features},
        decoded.data(),
        decoded.size() * 4
    );
    WeightLoader loader = writer.open();
    LinearSpec spec;
    spec.in_features = c.in_features;
    spec.out_features = c.out_features;
    spec.num_experts = num_matrices;
    spec.dense = "w";
    spec.blocks = "w_blocks";
    spec.scales = "w_scales";
    const auto linear = *load_linear(loader, spec);
    EXPECT_EQ(linear->format(), "mxfp4");
    LinearSpec dense = spec;
    dense.blocks = "";
    dense.dense = "d";
    const auto result = expect_all_equal(*linear);
    expect_same_bits(result, expect_all_equal(**load_linear(loader, dense)));
  }
}

TEST(Mxfp4, MissingAndWrongWeightsAreNamed) {
  CheckpointWriter writer;
  const std::vector<float> values(32, 1.0F);
  writer.add("w_blocks", "F32", {1, 1, 1, 16}, values.data(), 64);
  WeightLoader loader = writer.open();
  LinearSpec spec;
  spec.in_features = 32;
  spec.out_features = 1;
  spec.num_experts = 1;
  spec.dense = "w";
  spec.blocks = "w_blocks";
  spec.scales = "w_scales";
  const auto wrong_type = load_linear(loader, spec);
  ASSERT_FALSE(wrong_type);
  EXPECT_NE(wrong_type.error().message.find("w_blocks"), std::string::npos);
  spec.blocks = "";
  const auto missing = load_linear(loader, spec);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("\"w\""), std::string::npos);
  spec.blocks = "w_blocks";
  spec.in_features = 48;
  EXPECT_NE(load_linear(loader, spec).error().message.find("blocks of 32"), std::string::npos);
}

TEST(Mxfp4, DecodesTheKnownBlock) {
  // Scale byte 125 and checkpoint bytes 0x10 ... 0x1f: each odd element is 0.5 * 2^-2.
  constexpr float kEven[16] = {
      0, .125F, .25F, .375F, .5F, .75F, 1, 1.5F, 0, -.125F, -.25F, -.375F, -.5F, -.75F, -1, -1.5F};
  for (unsigned byte = 0x10; byte <= 0x1f; ++byte) {
    EXPECT_EQ(
        static_cast<float>(kMxfp4DoubledCodes[byte & 15U]) * mxfp4_half_scale(125),
        kEven[byte - 0x10]
    );
    EXPECT_EQ(static_cast<float>(kMxfp4DoubledCodes[byte >> 4U]) * mxfp4_half_scale(125), 0.125F);
  }
  EXPECT_EQ(12.0F * mxfp4_half_scale(254), 6.0F * 0x1p127F);
  EXPECT_EQ(mxfp4_half_scale(0), 0x1p-128F);
  EXPECT_EQ(mxfp4_half_scale(1), 0x1p-127F);
  EXPECT_TRUE(std::isnan(mxfp4_half_scale(255)));
}

TEST(Mxfp4, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("MXFP4", 39);
}

TEST(Mxfp4, RowsAreWholeBlocks) {
  testing::expect_whole_blocks("MXFP4", 39, 32, 17);
}

}  // namespace
}  // namespace rapt
