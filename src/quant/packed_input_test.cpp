#include "quant/packed_input.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace rapt {
namespace {

struct Packed {
  float scale = 0.0F;
  std::int32_t minus_sum = 0;
  float scaled_sum = 0.0F;
  std::int32_t minus_first = 0;
  std::vector<int> q;
};

// All bytes of the packed rows.
std::vector<std::uint8_t> pack(
    std::vector<float>& x, std::int64_t num_rows, LinearMode mode, CpuLevel level
) {
  ThreadPool pool(2);
  Workspace workspace(*Buffer::allocate(std::uint64_t{1} << 20, "test"));
  const auto size = static_cast<std::int64_t>(x.size()) / num_rows;
  const Tensor rows(x.data(), DType::kF32, Shape{num_rows, size});
  const PackedInput input = pack_input(Stream{&pool, level}, workspace, rows, mode);
  EXPECT_EQ(input.mode, mode);
  EXPECT_EQ(input.x.raw(), x.data());
  const std::int64_t num_bytes = num_rows * packed_row_bytes(size, mode);
  return std::vector<std::uint8_t>(input.blocks, input.blocks + num_bytes);
}

Packed block_of(const std::vector<std::uint8_t>& bytes, LinearMode mode, std::int64_t block_idx) {
  const std::uint8_t* block = bytes.data() + block_idx * packed_block_bytes(mode);
  Packed packed;
  std::memcpy(&packed.scale, block, sizeof(packed.scale));
  std::memcpy(&packed.minus_sum, block + kPackedSumOffset, sizeof(packed.minus_sum));
  std::memcpy(&packed.scaled_sum, block + kPackedScaledSumOffset, sizeof(packed.scaled_sum));
  std::memcpy(&packed.minus_first, block + kPackedFirstSumOffset, sizeof(packed.minus_first));
  for (int idx = 0; idx < 32; ++idx) {
    int value = static_cast<std::int8_t>(block[kPackedLowOffset + idx]);
    if (mode == LinearMode::kI16) {
      const int high = static_cast<std::int8_t>(block[kPackedHighOffset + idx]);
      EXPECT_LE(std::abs(high), 85);
      value += 256 * high;
    }
    packed.q.push_back(value);
  }
  return packed;
}

constexpr LinearMode kPackedModes[] = {LinearMode::kI16, LinearMode::kI8};

TEST(PackedInput, RoundsToTheNearestOfTheScale) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(3 * 64);
  for (float& value : x) {
    value = normal(generator);
  }
  x[5] = -7.25F;
  for (const LinearMode mode : kPackedModes) {
    const float limit = mode == LinearMode::kI16 ? 21845.0F : 127.0F;
    const auto bytes = pack(x, 3, mode, CpuLevel::kReference);
    for (int block = 0; block < 6; ++block) {
      float max = 0.0F;
      for (int idx = 0; idx < 32; ++idx) {
        max = std::fmax(max, std::fabs(x[block * 32 + idx]));
      }
      const Packed packed = block_of(bytes, mode, block);
      EXPECT_EQ(packed.scale, max / limit);
      int sum = 0;
      int first_sum = 0;
      for (int idx = 0; idx < 32; ++idx) {
        const int q = packed.q[static_cast<std::size_t>(idx)];
        EXPECT_EQ(q, static_cast<int>(std::nearbyint(x[block * 32 + idx] * (limit / max))));
        EXPECT_LE(std::abs(q), static_cast<int>(limit));
        sum += q;
        first_sum += idx < 16 ? q : 0;
      }
      EXPECT_EQ(packed.minus_sum, -sum);
      EXPECT_EQ(packed.minus_first, -first_sum);
      EXPECT_EQ(packed.scaled_sum, packed.scale * static_cast<float>(sum));
    }
    EXPECT_EQ(block_of(bytes, mode, 0).q[5], -static_cast<int>(limit));
  }
}

TEST(PackedInput, EveryLevelPacksTheSameBytes) {
  std::mt19937 generator(2);
  for (const std::int64_t size : {1, 31, 32, 33, 96, 100, 544}) {
    std::vector<float> x(static_cast<std::size_t>(size * 5));
    for (float& value : x) {
      // Of all magnitudes, with both signs and halves that tie.
      const float magnitude = std::ldexp(1.0F, static_cast<int>(generator() % 240) - 130);
      value = (generator() % 2 == 0 ? -magnitude : magnitude) *
              static_cast<float>(generator() % 1024) / 16.0F;
    }
    for (const LinearMode mode : kPackedModes) {
      const auto expected = pack(x, 5, mode, CpuLevel::kReference);
      for (const CpuLevel level : runnable_cpu_levels()) {
        EXPECT_EQ(expected, pack(x, 5, mode, level)) << name_of(level) << " size " << size;
      }
    }
  }
}

TEST(PackedInput, BlocksOfNothingAndOfNoNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> x(5 * 32, 1.0F);
  for (std::size_t idx = 0; idx < 32; ++idx) {
    x[idx] = idx % 2 == 0 ? 0.0F : -0.0F;
    x[32 + idx] = 0x1p-101F;
  }
  x[64 + 3] = std::numeric_limits<float>::quiet_NaN();
  x[96 + 31] = -kInf;
  for (const CpuLevel level : runnable_cpu_levels()) {
    for (const LinearMode mode : kPackedModes) {
      const auto bytes = pack(x, 1, mode, level);
      const std::vector<int> zeros(32, 0);
      for (const int block : {0, 1}) {
        const Packed packed = block_of(bytes, mode, block);
        EXPECT_EQ(packed.scale, 0.0F);
        EXPECT_EQ(packed.scaled_sum, 0.0F);
        EXPECT_EQ(packed.q, zeros);
      }
      for (const int block : {2, 3}) {
        const Packed packed = block_of(bytes, mode, block);
        EXPECT_TRUE(std::isnan(packed.scale));
        EXPECT_TRUE(std::isnan(packed.scaled_sum));
        EXPECT_EQ(packed.minus_sum, 0);
        EXPECT_EQ(packed.q, zeros);
      }
      EXPECT_EQ(block_of(bytes, mode, 4).minus_sum, mode == LinearMode::kI16 ? -32 * 21845 : -4064);
    }
  }
}

TEST(PackedInput, MeasuringTakesWhatPackingTakes) {
  for (const LinearMode mode : kLinearModes) {
    Workspace measuring = Workspace::measuring();
    measure_packed_input(measuring, 7, 100, mode);
    Workspace also_measuring = Workspace::measuring();
    ThreadPool pool(1);
    const Tensor nothing(nullptr, DType::kF32, Shape{7, 100});
    const PackedInput input = pack_input(Stream{&pool}, also_measuring, nothing, mode);
    EXPECT_EQ(input.blocks, nullptr);
    EXPECT_EQ(measuring.peak_bytes(), also_measuring.peak_bytes());
    EXPECT_EQ(measuring.peak_bytes() == 0, mode == LinearMode::kF32);
  }
}

TEST(LinearMode, NamesAreFound) {
  for (const LinearMode mode : kLinearModes) {
    EXPECT_EQ(find_linear_mode(name_of(mode)), mode);
  }
  EXPECT_FALSE(find_linear_mode("i4"));
}

}  // namespace
}  // namespace rapt
