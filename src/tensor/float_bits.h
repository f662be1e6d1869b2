#pragma once

#include <bit>
#include <cstdint>

// Conversions between fp32 and the narrow formats, exact or rounded to nearest even. Small and
// inline so that they define what the vector kernels must give; static, because kernel files are
// compiled for several CPU levels and must not share one copy.

namespace rapt {

static inline float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

static inline std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);  // a NaN stays one
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

static inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1FU) {
    return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (mantissa << 13));
  }
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

// E4M3 has no infinity; its greatest number is 448.
static inline float f8e4m3_to_f32(std::uint8_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24;
  const std::uint32_t exponent = (bits >> 3) & 0xFU;
  const std::uint32_t mantissa = bits & 7U;
  if ((bits & 0x7FU) == 0x7FU) {
    return std::bit_cast<float>(sign | 0x7FC00000U);
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 120U) << 23) | (mantissa << 20));
  }
  const float magnitude = static_cast<float>(mantissa) * 0x1p-9F;
  return sign != 0 ? -magnitude : magnitude;
}

// Numbers above 448 become 448; a NaN stays one.
static inline std::uint8_t f32_to_f8e4m3(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 24 & 0x80U;
  bits &= 0x7FFFFFFFU;
  if (bits > 0x7F800000U) {
    return static_cast<std::uint8_t>(sign | 0x7FU);
  }
  const float magnitude = std::bit_cast<float>(bits);
  if (magnitude < 0x1p-6F) {
    // Steps of 2^-9; adding and taking away 1.5 * 2^23 rounds to the nearest, ties to even.
    const float steps = (magnitude * 512.0F + 12582912.0F) - 12582912.0F;
    return static_cast<std::uint8_t>(sign | static_cast<std::uint32_t>(steps));
  }
  const std::uint32_t rounded = (bits + 0x7FFFFU + (bits >> 20 & 1U)) >> 20;
  const std::uint32_t code = rounded - (120U << 3);
  return static_cast<std::uint8_t>(sign | (code < 0x7EU ? code : 0x7EU));
}

}  // namespace rapt
