#include "attention/kv_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "attention/metadata.h"
#include "attention/problem_internal.h"
#include "tensor/float_bits.h"

namespace rapt {
namespace {

constexpr std::int64_t kBlockSize = 16;

TEST(KVLayout, GivesEachElementAPlaceOfItsOwn) {
  for (const std::int64_t pack : {1, 2, 4}) {
    for (const std::int64_t head_dim : {16, 48}) {
      std::set<std::int64_t> k;
      std::set<std::int64_t> v;
      for (std::int64_t slot = 0; slot < 2 * kBlockSize; ++slot) {
        for (std::int64_t dim = 0; dim < head_dim; ++dim) {
          k.insert(k_offset(slot, dim, head_dim, pack));
          v.insert(v_offset(slot, dim, head_dim, pack));
        }
      }
      for (const auto& places : {k, v}) {
        EXPECT_EQ(places.size(), static_cast<std::size_t>(2 * kBlockSize * head_dim));
        EXPECT_EQ(*places.begin(), 0);
        EXPECT_EQ(*places.rbegin(), 2 * kBlockSize * head_dim - 1);
      }
    }
  }
}

TEST(KVLayout, IsThePictureInTheHeader) {
  // BF16: a word of K holds two dimensions of a key, a word of V one dimension of two keys.
  EXPECT_EQ(k_offset(3, 5, 64, 2), (2 * 16 + 3) * 2 + 1);
  EXPECT_EQ(k_offset(16 + 3, 5, 64, 2), 16 * 64 + (2 * 16 + 3) * 2 + 1);
  EXPECT_EQ(v_offset(5, 7, 64, 2), (2 * 64 + 7) * 2 + 1);
  EXPECT_EQ(k_offset(3, 5, 64, 1), 5 * 16 + 3);
  EXPECT_EQ(v_offset(5, 7, 64, 1), 5 * 64 + 7);
  EXPECT_EQ(k_offset(3, 6, 64, 4), (16 + 3) * 4 + 2);
}

TEST(KVCache, LayersDoNotOverlap) {
  for (const DType dtype : {DType::kBF16, DType::kF8E4M3}) {
    const KVGroupLayout group{3, 5, 2, 16, dtype};
    KVCache cache = *KVCache::create({group, group}, kBlockSize);
    EXPECT_EQ(cache.num_bytes(), 2 * 5 * KVCache::block_bytes(group, kBlockSize));
    const auto bytes = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const auto layer_bytes = static_cast<std::uint64_t>(2 * 5 * 2 * 16 * 16 * size_of(dtype));
    for (const int group_idx : {0, 1}) {
      const auto base = bytes(cache.layer(group_idx, 0).k);
      for (const int layer_idx : {0, 1, 2}) {
        const KVLayerView layer = cache.layer(group_idx, layer_idx);
        EXPECT_EQ(bytes(layer.k) - base, static_cast<std::uint64_t>(layer_idx) * layer_bytes);
        EXPECT_EQ(
            bytes(layer.v) - bytes(layer.k), 16U * 16U * static_cast<unsigned>(size_of(dtype))
        );
        if (dtype == DType::kF8E4M3) {
          const auto scale_bytes = static_cast<std::uint64_t>(5 * 2 * 2 * 4);
          EXPECT_EQ(
              bytes(layer.scales) - base,
              3 * layer_bytes + static_cast<std::uint64_t>(layer_idx) * scale_bytes
          );
        } else {
          EXPECT_EQ(layer.scales, nullptr);
        }
      }
    }
  }
}

// A block is all that a group's layers keep of 16 positions.
TEST(KVCache, CountsScalesIntoTheBlock) {
  EXPECT_EQ(KVCache::block_bytes({2, 9, 8, 64, DType::kBF16}, 16), 2U * 2 * 8 * 16 * 64 * 2);
  EXPECT_EQ(KVCache::block_bytes({2, 9, 8, 64, DType::kF32}, 32), 2U * 2 * 8 * 32 * 64 * 4);
  EXPECT_EQ(
      KVCache::block_bytes({2, 9, 8, 64, DType::kF8E4M3}, 16), 2U * (2 * 8 * 16 * 64 + 8 * 8)
  );
}

TEST(F8, EveryCodeComesBack) {
  for (int code = 0; code < 256; ++code) {
    const float value = f8e4m3_to_f32(static_cast<std::uint8_t>(code));
    EXPECT_EQ(f32_to_f8e4m3(value), code) << value;
    EXPECT_EQ(std::isnan(value), (code & 0x7F) == 0x7F);
  }
  EXPECT_EQ(f8e4m3_to_f32(0x7E), 448.0F);
  EXPECT_EQ(f8e4m3_to_f32(0x01), 0x1p-9F);
  EXPECT_EQ(f8e4m3_to_f32(0x38), 1.0F);
}

TEST(F8, RoundsToTheNearestAndCutsOff) {
  for (int code = 0; code < 0x7E; ++code) {
    const float low = f8e4m3_to_f32(static_cast<std::uint8_t>(code));
    const float high = f8e4m3_to_f32(static_cast<std::uint8_t>(code + 1));
    const float middle = (low + high) / 2.0F;
    const int even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(f32_to_f8e4m3(middle), even);
    EXPECT_EQ(f32_to_f8e4m3(std::nextafter(middle, 0.0F)), code);
    EXPECT_EQ(f32_to_f8e4m3(std::nextafter(middle, 1e9F)), code + 1);
    EXPECT_EQ(f32_to_f8e4m3(-std::nextafter(middle, 1e9F)), (code + 1) | 0x80);
  }
  EXPECT_EQ(f32_to_f8e4m3(449.0F), 0x7E);
  EXPECT_EQ(f32_to_f8e4m3(1e30F), 0x7E);
  EXPECT_EQ(f32_to_f8e4m3(-INFINITY), 0xFE);
}

TEST(F8, ScalePutsTheFirstTokenBetween14And28) {
  for (const float greatest : {1e-20F, 0.013F, 14.0F, 14.1F, 27.9F, 28.0F, 28.1F, 3584.0F}) {
    const float row[4] = {0.0F, -greatest, greatest / 3.0F, 0.0F};
    const float scale = f8_scale(row, 4);
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale, &exponent), 0.5F);
    EXPECT_GT(greatest / scale, 14.0F) << greatest;
    EXPECT_LE(greatest / scale, 28.0F) << greatest;
  }
  const float huge[1] = {3.4e5F};
  EXPECT_EQ(f8_scale(huge, 1), 128.0F);
  const float zeros[2] = {0.0F, 0.0F};
  EXPECT_EQ(f8_scale(zeros, 2), 1.0F);
  const float nan[2] = {NAN, 7.0F};
  EXPECT_EQ(f8_scale(nan, 2), 0.25F);
}

// The stated error of every stored element.
TEST(F8, KeepsItsStatedError) {
  ThreadPool pool(2);
  const Stream stream{&pool, CpuLevel::kReference};
  AttentionProblem problem = {.num_heads = 2, .num_kv_heads = 2, .dtype = DType::kF8E4M3};
  problem.sequences = {{5, 0, 100}};
  AttentionTrial trial(stream, problem);
  problem.dtype = DType::kF32;
  AttentionTrial exact(stream, problem);
  double sum = 0.0;
  double sum_of_errors = 0.0;
  for (std::int64_t position = 0; position < 100; ++position) {
    for (const int half : {0, 1}) {
      for (const std::int64_t head : {0, 1}) {
        const auto wanted = exact.stored(0, position, head, half);
        const auto stored = trial.stored(0, position, head, half);
        const auto first = exact.stored(0, position / 16 * 16, head, half);
        const float scale = f8_scale(first.data(), 64);
        for (std::size_t d = 0; d < 64; ++d) {
          const float error = std::fabs(stored[d] - wanted[d]);
          ASSERT_LE(error, std::max(std::fabs(wanted[d]) / 16.0F, scale * 0x1p-10F)) << position;
          sum += static_cast<double>(wanted[d]) * static_cast<double>(wanted[d]);
          sum_of_errors += static_cast<double>(error) * static_cast<double>(error);
        }
      }
    }
  }
  // Norm of the error over norm of the values: 2.6 %.
  EXPECT_LT(std::sqrt(sum_of_errors / sum), 0.03);
  EXPECT_GT(std::sqrt(sum_of_errors / sum), 0.01);
}

TEST(F8, CutsOffLaterTokensSixteenTimesAsGreat) {
  ThreadPool pool(1);
  const Stream stream{&pool, CpuLevel::kReference};
  KVCache cache = *KVCache::create({KVGroupLayout{1, 1, 1, 16, DType::kF8E4M3}}, kBlockSize);
  const std::vector<std::int32_t> table = {0};
  std::vector<float> k(16 * 3, 1.0F);  // scale 1/16
  k[16] = 15.0F;
  k[17] = -29.0F;
  std::vector<float> v = k;
  AttentionMetadata metadata;
  metadata.num_sequences = 1;
  metadata.num_tokens = 3;
  metadata.sequences.push_back({0, 3, 0, {table}});
  metadata.sequence_of_row = {0, 0, 0};
  const Shape shape{3, 1, 16};
  const KVLayerView layer = cache.layer(0, 0);
  write_kv(
      stream,
      layer,
      metadata,
      0,
      Tensor(k.data(), DType::kF32, shape),
      Tensor(v.data(), DType::kF32, shape)
  );
  EXPECT_EQ(layer.scales[0], 0.0625F);
  const auto at = [&](std::int64_t slot, std::int64_t dim) {
    return f8e4m3_to_f32(static_cast<const std::uint8_t*>(layer.k)[k_offset(slot, dim, 16, 4)]) *
           layer.scales[0];
  };
  EXPECT_EQ(at(0, 0), 1.0F);
  EXPECT_EQ(at(1, 0), 15.0F);
  EXPECT_EQ(at(1, 1), -28.0F);
}

}  // namespace
}  // namespace rapt
