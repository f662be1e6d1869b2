#include "kernels/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rapt::math {

namespace {

// Adding and taking away 1.5 * 2^23 (or 2^52) rounds to the nearest integer, ties to even.
constexpr float kRoundF32 = 12582912.0F;
constexpr double kRoundF64 = 6755399441055744.0;

// 2^n for n in the range of normal numbers.
float pow2_f32(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

double pow2_f64(std::int64_t n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

}  // namespace

// The vector form in kernels/cpu/vec_math.h has these very steps.
float exp(float x) {
  if (!(x <= 88.73F)) {  // also catches NaN
    return x > 0.0F ? std::numeric_limits<float>::infinity() : x;
  }
  if (x < -104.0F) {
    return 0.0F;
  }
  // x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor series to r^7 (error 6e-9).
  const float n = std::fma(x, 1.44269502F, kRoundF32) - kRoundF32;
  float r = std::fma(n, -0.693359375F, x);
  r = std::fma(n, 2.12194440e-4F, r);
  float p = 1.0F / 5040.0F;
  p = std::fma(p, r, 1.0F / 720.0F);
  p = std::fma(p, r, 1.0F / 120.0F);
  p = std::fma(p, r, 1.0F / 24.0F);
  p = std::fma(p, r, 1.0F / 6.0F);
  p = std::fma(p, r, 0.5F);
  p = std::fma(p, r, 1.0F);
  p = std::fma(p, r, 1.0F);
  // 2^n in two factors, since 2^n itself may be subnormal or past the largest number.
  const auto exponent = static_cast<std::int32_t>(n);
  const std::int32_t half = exponent >> 1;
  return p * pow2_f32(half) * pow2_f32(exponent - half);
}

float log(float x) {
  if (!(x > 0.0F)) {
    return x == 0.0F ? -std::numeric_limits<float>::infinity()
                     : std::numeric_limits<float>::quiet_NaN();
  }
  if (std::isinf(x)) {
    return x;
  }
  std::int32_t exponent = 0;
  if (x < std::numeric_limits<float>::min()) {
    x *= 8388608.0F;
    exponent = -23;
  }
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1).
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  constexpr std::uint32_t kSqrtHalf = 0x3F3504F3U;
  const std::uint32_t shifted = bits - kSqrtHalf;
  exponent += static_cast<std::int32_t>(shifted) >> 23;
  bits = (shifted & 0x007FFFFFU) + kSqrtHalf;
  const float m = std::bit_cast<float>(bits);
  const float s = (m - 1.0F) / (m + 1.0F);
  const float z = s * s;
  float p = 1.0F / 11.0F;
  p = std::fma(p, z, 1.0F / 9.0F);
  p = std::fma(p, z, 1.0F / 7.0F);
  p = std::fma(p, z, 1.0F / 5.0F);
  p = std::fma(p, z, 1.0F / 3.0F);
  p = p * z;
  const float two_s = s + s;
  const auto e = static_cast<float>(exponent);
  const float low = std::fma(two_s, p, e * -2.12194440e-4F);
  return std::fma(e, 0.693359375F, two_s + low);
}

double exp(double x) {
  if (!(x <= 709.0)) {
    return x > 0.0 ? std::numeric_limits<double>::infinity() : x;
  }
  if (x < -708.0) {
    return 0.0;
  }
  const double n = std::fma(x, 1.4426950408889634, kRoundF64) - kRoundF64;
  double r = std::fma(n, -0.6931471805599453, x);
  r = std::fma(n, -2.3190468138462996e-17, r);
  // Horner over 1/k!, k = 13 ... 0.
  double p = 1.0;
  for (int k = 13; k >= 1; --k) {
    p = std::fma(p * r, 1.0 / k, 1.0);
  }
  return p * pow2_f64(static_cast<std::int64_t>(n));
}

double log(double x) {
  constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDULL;
  const std::uint64_t shifted = std::bit_cast<std::uint64_t>(x) - kSqrtHalf;
  const auto exponent = static_cast<double>(static_cast<std::int64_t>(shifted) >> 52);
  const double m = std::bit_cast<double>((shifted & 0x000FFFFFFFFFFFFFULL) + kSqrtHalf);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 0.0;
  for (int k = 23; k >= 3; k -= 2) {
    p = std::fma(p, z, 1.0 / k);
  }
  const double low = std::fma(2.0 * s, p * z, exponent * 2.3190468138462996e-17);
  return std::fma(exponent, 0.6931471805599453, 2.0 * s + low);
}

SinCos sincos(double x) {
  // x = n pi/2 + r with |r| <= pi/4; pi/2 as three doubles, so that r keeps its last bits.
  const double n = std::fma(x, 0.6366197723675814, kRoundF64) - kRoundF64;
  double r = std::fma(n, -1.5707963267948966, x);
  r = std::fma(n, -6.123233995736766e-17, r);
  r = std::fma(n, 1.4973849048591833e-33, r);
  const double z = r * r;
  double sin_tail = 1.0;
  for (int k = 17; k >= 3; k -= 2) {
    sin_tail = std::fma(sin_tail * z, -1.0 / (k * (k - 1)), 1.0);
  }
  double cos_tail = 1.0;
  for (int k = 18; k >= 2; k -= 2) {
    cos_tail = std::fma(cos_tail * z, -1.0 / (k * (k - 1)), 1.0);
  }
  const double sin_r = r * sin_tail;
  switch (static_cast<std::int64_t>(n) & 3) {
    case 0:
      return {sin_r, cos_tail};
    case 1:
      return {cos_tail, -sin_r};
    case 2:
      return {-sin_r, -cos_tail};
    default:
      return {-cos_tail, sin_r};
  }
}

}  // namespace rapt::math
