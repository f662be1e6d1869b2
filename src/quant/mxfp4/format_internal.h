#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace rapt {

// MXFP4 (OCP Microscaling Formats 1.0): 32 consecutive inputs of one output feature share a scale.
//
//   element: 4 bits E2M1 (sign, 2 exponent bits, 1 mantissa bit): 0, .5, 1, 1.5, 2, 3, 4, 6
//   scale:   8 bits E8M0: 2^(byte - 127); 255 is NaN
//
//   a block in a gpt-oss checkpoint: 16 bytes, and its scale in a tensor of its own
//     byte j:  bits 0-3 element 2j, bits 4-7 element 2j + 1
//   a block in a GGUF file: 17 bytes, the scale first
//     byte 1 + j:  bits 0-3 element j, bits 4-7 element j + 16
//   a block in the first GGUF files of Ollama, which use another type number: 17 bytes, the scale
//   first, the elements as in a checkpoint
inline constexpr std::int64_t kMxfp4BlockSize = 32;
inline constexpr std::int64_t kMxfp4BlockBytes = 16;

// Twice the value of each code, which makes them integers. The negative zero counts as zero.
inline constexpr std::array<std::int8_t, 16> kMxfp4DoubledCodes = {
    0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Half of the scale: what a doubled code is multiplied by. Exact for every byte; for 0 and 1 it is
// subnormal.
static inline float mxfp4_half_scale(std::uint8_t byte) {
  if (byte == 255) {
    return std::bit_cast<float>(0x7FC00000U);
  }
  return byte >= 2 ? std::bit_cast<float>(static_cast<std::uint32_t>(byte - 1) << 23)
                   : std::bit_cast<float>(0x00200000U << byte);
}

}  // namespace rapt
