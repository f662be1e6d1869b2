#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/float_bits.h"

namespace rapt {
namespace {

TEST(Tensor, RowsAreAView) {
  std::vector<float> data(2 * 3 * 4);
  for (std::size_t idx = 0; idx < data.size(); ++idx) {
    data[idx] = static_cast<float>(idx);
  }
  const Tensor tensor(data.data(), DType::kF32, Shape{2, 3, 4});
  EXPECT_EQ(tensor.num_bytes(), 96);
  const Tensor second = tensor.rows(1, 1);
  EXPECT_EQ(second.shape(), (Shape{1, 3, 4}));
  EXPECT_EQ(second.f32()[0], 12.0F);
  EXPECT_EQ(second.shape().to_string(), "[1, 3, 4]");
}

TEST(Workspace, HandsOutAlignedPieces) {
  Workspace workspace(*Buffer::allocate(256, "a test"));
  float* first = workspace.take<float>(1);
  float* second = workspace.take<float>(16);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  EXPECT_EQ(second - first, 16);
  workspace.rewind(0);
  EXPECT_EQ(workspace.take<float>(1), first);
  EXPECT_EQ(workspace.peak_bytes(), 128U);
}

TEST(Workspace, MeasuringCountsWhatAnOwnerNeeds) {
  Workspace measuring = Workspace::measuring();
  EXPECT_EQ(measuring.take<float>(100), nullptr);
  const std::uint64_t mark = measuring.mark();
  measuring.take<float>(16);
  measuring.rewind(mark);
  measuring.take<char>(1);
  EXPECT_EQ(measuring.peak_bytes(), 448U + 64U);
}

TEST(WorkspaceDeathTest, RunningOutAborts) {
  Workspace workspace(*Buffer::allocate(64, "a test"));
  EXPECT_DEATH(workspace.take<float>(17), "needs 128 has 64");
}

TEST(Buffer, TooMuchIsAnError) {
  const auto result = Buffer::allocate(std::uint64_t{1} << 60, "the KV cache");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("the KV cache"), std::string::npos);
}

TEST(FloatBits, Bf16RoundsToNearestEven) {
  EXPECT_EQ(f32_to_bf16(1.0F), 0x3F80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808000U)), 0x3F80);  // tie to even, down
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F818000U)), 0x3F82);  // tie to even, up
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808001U)), 0x3F81);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7F7FFFFFU)), 0x7F80);  // rounds up to infinity
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(NAN))));
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7F800001U)))));
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = bf16_to_f32(static_cast<std::uint16_t>(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(f32_to_bf16(value), bits);
    }
  }
}

TEST(FloatBits, F16DecodesEveryPattern) {
  EXPECT_EQ(f16_to_f32(0x3C00), 1.0F);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24F);
  EXPECT_EQ(f16_to_f32(0x83FF), -1023.0F * 0x1p-24F);
  EXPECT_EQ(f16_to_f32(0x7BFF), 65504.0F);
  EXPECT_TRUE(std::isinf(f16_to_f32(0xFC00)));
  EXPECT_TRUE(std::isnan(f16_to_f32(0x7E00)));
  for (std::uint32_t bits = 0; bits < 0x7C00U; ++bits) {
    const double expected =
        (bits >> 10) == 0 ? std::ldexp(bits, -24)
                          : std::ldexp(1024 + (bits & 1023U), static_cast<int>(bits >> 10) - 25);
    ASSERT_EQ(f16_to_f32(static_cast<std::uint16_t>(bits)), expected) << bits;
  }
}

}  // namespace
}  // namespace rapt
