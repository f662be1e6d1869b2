// The figures themselves belong to bench/; here: that every level's loops run and give a rate.

#include "kernels/peaks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rapt {
namespace {

TEST(Peaks, EveryLevelHasAFigureForEveryKind) {
  ThreadPool pool(2);
  for (const CpuLevel level : runnable_cpu_levels()) {
    const double fma = fma_gflops(pool, level);
    EXPECT_TRUE(std::isfinite(fma) && fma > 0.0) << name_of(level);
    for (const DotKind kind : {DotKind::kI16, DotKind::kI8, DotKind::kI8Sums16}) {
      const double rate = dot_gops(pool, level, kind);
      EXPECT_TRUE(std::isfinite(rate) && rate > 0.0) << name_of(level) << " " << name_of(kind);
    }
  }
}

TEST(Peaks, ReadsABufferOfAnySize) {
  ThreadPool pool(2);
  for (const std::uint64_t num_bytes : {std::uint64_t{1}, std::uint64_t{5} << 20}) {
    auto meter = ReadMeter::create(pool, num_bytes);
    ASSERT_TRUE(meter) << meter.error().message;
    EXPECT_GT(meter->gbps(pool), 0.0);
  }
}

TEST(Peaks, ABufferThatDoesNotFitIsAnError) {
  ThreadPool pool(1);
  EXPECT_FALSE(ReadMeter::create(pool, std::uint64_t{1} << 60));
}

}  // namespace
}  // namespace rapt
