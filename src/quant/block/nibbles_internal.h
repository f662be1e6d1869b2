#pragma once

#include <cstring>
#include <string_view>

#include "quant/block/format_internal.h"
#include "quant/block/ref_internal.h"
#include "tensor/float_bits.h"

namespace rapt {

// The four block types of GGUF files with 32 weights of four or five bits:
//
//   scale, F16 | min, F16, where there is one | the fifth bits, where there are such | nibbles
//
// The fifth bits are 32 bits, element 0 lowest. The nibbles are 16 bytes, of which the low ones are
// elements 0 to 15, the high ones 16 to 31. With a min, an element is its integer times the scale,
// plus the min; without, it is its integer minus half of the range, times the scale.
template <bool kHasMin, bool kHasFifthBits>
struct NibbleBlocks {
  static constexpr std::int64_t kCodesOffset = kHasMin ? 4 : 2;
  static constexpr std::int64_t kFifthBytes = kHasFifthBits ? 4 : 0;
  static constexpr std::int64_t kBlockBytes = kCodesOffset + kFifthBytes + 16;
  static constexpr int kOffset = kHasMin ? 0 : kHasFifthBits ? 16 : 8;

  static float f16_at(const std::uint8_t* p) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, p, sizeof(bits));
    return f16_to_f32(bits);
  }

  static void unpack(
      const std::uint8_t* codes,
      const std::uint8_t* scales,
      std::int64_t /*part*/,
      UnpackedBlock* to
  ) {
    std::uint32_t fifth = 0;
    std::memcpy(&fifth, codes, kFifthBytes);
    for (std::uint32_t idx = 0; idx < 16; ++idx) {
      const int pair = codes[kFifthBytes + idx];
      const int low = pair % 16 + (fifth >> idx & 1U ? 16 : 0);
      const int high = pair / 16 + (fifth >> (idx + 16) & 1U ? 16 : 0);
      to->codes[idx] = static_cast<std::int8_t>(low - kOffset);
      to->codes[idx + 16] = static_cast<std::int8_t>(high - kOffset);
    }
    to->scales[0] = to->scales[1] = f16_at(scales);
    to->min = kHasMin ? f16_at(scales + 2) : 0.0F;
  }

  // A register of columns for each four bytes of nibbles, and one of the fifth bits.
  static void prepare(
      const std::uint8_t* codes,
      const std::uint8_t* scales,
      std::int64_t lane,
      std::uint8_t* to_codes,
      std::uint8_t* to_scales
  ) {
    for (std::int64_t column = 0; column < 4; ++column) {
      std::memcpy(to_codes + column * 64 + lane * 4, codes + kFifthBytes + column * 4, 4);
    }
    if (kHasFifthBits) {
      std::memcpy(to_codes + 4 * 64 + lane * 4, codes, 4);
    }
    std::memcpy(to_scales + lane * kCodesOffset, scales, kCodesOffset);
  }

  static void set_scales(std::uint32_t random, std::uint8_t* scales) {
    const auto scale = static_cast<std::uint16_t>(random % 0x3000U);
    std::memcpy(scales, &scale, sizeof(scale));
    if (kHasMin) {
      const auto min = static_cast<std::uint16_t>(0x8000U | (random >> 16U) % 0x3800U);
      std::memcpy(scales + 2, &min, sizeof(min));
    }
  }

  static constexpr BlockFormat format(
      std::string_view name,
      std::string_view gguf_name,
      std::uint32_t gguf_id,
      KernelBuilds<const BlockKernels*> kernels
  ) {
    return {
        .name = name,
        .layout_name = name,
        .type = {gguf_name, gguf_id, 32, kBlockBytes},
        .codes_offset = kCodesOffset,
        .layout =
            {.codes_bytes = kBlockBytes,
             .scales_bytes = kBlockBytes,
             .has_min = kHasMin,
             .unpack = unpack},
        .kernels = kernels,
        .prepared_codes_bytes = kHasFifthBits ? 320 : 256,
        .prepared_scales_bytes = 16 * kCodesOffset,
        .prepare = prepare,
        .max_byte = kHasFifthBits ? 31 : 15,
        .set_scales = set_scales,
    };
  }
};

}  // namespace rapt
