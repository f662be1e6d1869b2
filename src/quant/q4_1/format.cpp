#include <array>
#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/registry_internal.h"
#include "tensor/float_bits.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ41Kernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ41Kernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ41Kernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ41Kernels;
}

namespace {

// A block is 20 bytes: scale and min as F16, then 16 bytes of nibbles, of which the low ones are
// elements 0 to 15, the high ones 16 to 31; an element is its nibble times the scale, plus the min.
constexpr std::int64_t kCodesOffset = 4;
constexpr std::int64_t kBlockBytes = kCodesOffset + 16;

float f16_at(const std::uint8_t* p) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, p, sizeof(bits));
  return f16_to_f32(bits);
}

void unpack(
    const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t /*part*/, UnpackedBlock* to
) {
  for (std::int64_t idx = 0; idx < 16; ++idx) {
    to->codes[idx] = static_cast<std::int8_t>(codes[idx] & 15U);
    to->codes[idx + 16] = static_cast<std::int8_t>(codes[idx] >> 4U);
  }
  to->scales[0] = to->scales[1] = f16_at(scales);
  to->min = f16_at(scales + 2);
}

void prepare(
    const std::uint8_t* codes,
    const std::uint8_t* scales,
    std::int64_t lane,
    std::uint8_t* to_codes,
    std::uint8_t* to_scales
) {
  for (std::int64_t column = 0; column < 4; ++column) {
    std::memcpy(to_codes + column * 64 + lane * 4, codes + column * 4, 4);
  }
  std::memcpy(to_scales + lane * 4, scales, 4);
}

void set_scales(std::uint32_t random, std::uint8_t* scales) {
  const auto scale = static_cast<std::uint16_t>(random % 0x3000U);
  const auto min = static_cast<std::uint16_t>(0x8000U | (random >> 16U) % 0x3800U);
  std::memcpy(scales, &scale, sizeof(scale));
  std::memcpy(scales + 2, &min, sizeof(min));
}

constexpr std::array kLayouts = {BlockFormat{
    .name = "q4_1",
    .layout_name = "q4_1",
    .type = {"Q4_1", 3, 32, kBlockBytes},
    .codes_offset = kCodesOffset,
    .layout =
        {.codes_bytes = kBlockBytes,
         .scales_bytes = kBlockBytes,
         .has_min = true,
         .unpack = unpack},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kQ41Kernels,
            .avx2 = &cpu::avx2::kQ41Kernels,
            .avx512 = &cpu::avx512::kQ41Kernels,
            .avx512vnni = &cpu::avx512vnni::kQ41Kernels,
        },
    .prepared_codes_bytes = 256,
    .prepared_scales_bytes = 64,
    .prepare = prepare,
    .max_byte = 15,
    .set_scales = set_scales,
}};

}  // namespace

WeightFormat q4_1_format() {
  return {.name = "q4_1", .blocks = kLayouts};
}

}  // namespace rapt
