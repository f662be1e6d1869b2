#include "kernels/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rapt {
namespace {

TEST(Math, ExpIsCloseToExact) {
  for (int step = 0; step <= 200000; ++step) {
    const float x = -87.0F + 175.0F * static_cast<float>(step) / 200000.0F;
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_NEAR(math::exp(x) / exact, 1.0, 0x1p-23) << x;
  }
}

TEST(Math, ExpAtTheEdges) {
  EXPECT_EQ(math::exp(0.0F), 1.0F);
  EXPECT_EQ(math::exp(-std::numeric_limits<float>::infinity()), 0.0F);
  EXPECT_EQ(math::exp(-104.5F), 0.0F);
  EXPECT_EQ(math::exp(-103.5F), std::numeric_limits<float>::denorm_min());
  EXPECT_TRUE(std::isinf(math::exp(89.0F)));
  EXPECT_TRUE(std::isfinite(math::exp(88.7F)));
  EXPECT_TRUE(std::isnan(math::exp(NAN)));
}

TEST(Math, LogIsCloseToExact) {
  for (int step = 0; step <= 200000; ++step) {
    const float x = std::exp(-85.0F + 170.0F * static_cast<float>(step) / 200000.0F);
    const double exact = std::log(static_cast<double>(x));
    ASSERT_NEAR(math::log(x), exact, std::abs(exact) * 0x1p-22) << x;
  }
  EXPECT_EQ(math::log(1.0F), 0.0F);
  EXPECT_NEAR(math::log(1e-40F), std::log(1e-40), 1e-4);
  EXPECT_TRUE(std::isinf(math::log(0.0F)));
  EXPECT_TRUE(std::isnan(math::log(-1.0F)));
}

TEST(Math, DoublesAreCloseToExact) {
  for (int step = 0; step <= 100000; ++step) {
    const double t = step / 100000.0;
    const double x = -600.0 + 1200.0 * t;
    ASSERT_NEAR(math::exp(x) / std::exp(x), 1.0, 1e-15);
    const double y = std::exp(-300.0 + 599.0 * t);
    ASSERT_NEAR(math::log(y), std::log(y), std::abs(std::log(y)) * 1e-15 + 1e-16);
    const double angle = 131072.0 * t;
    const math::SinCos value = math::sincos(angle);
    ASSERT_NEAR(value.sin, std::sin(angle), 1e-15) << angle;
    ASSERT_NEAR(value.cos, std::cos(angle), 1e-15) << angle;
  }
}

}  // namespace
}  // namespace rapt
