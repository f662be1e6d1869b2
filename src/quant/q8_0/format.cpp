#include <array>
#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/registry_internal.h"
#include "tensor/float_bits.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ80Kernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ80Kernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ80Kernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ80Kernels;
}

namespace {

// A block is 34 bytes: the scale as F16, then 32 int8; an element is its integer times the scale.
constexpr std::int64_t kCodesOffset = 2;
constexpr std::int64_t kBlockBytes = kCodesOffset + 32;

void unpack(
    const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t /*part*/, UnpackedBlock* to
) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, scales, sizeof(bits));
  std::memcpy(to->codes, codes, sizeof(to->codes));
  to->scales[0] = to->scales[1] = f16_to_f32(bits);
  to->min = 0.0F;
}

void prepare(
    const std::uint8_t* codes,
    const std::uint8_t* scale,
    std::int64_t lane,
    std::uint8_t* to_codes,
    std::uint8_t* to_scales
) {
  for (std::int64_t column = 0; column < 8; ++column) {
    std::memcpy(to_codes + column * 64 + lane * 4, codes + column * 4, 4);
  }
  std::memcpy(to_scales + lane * 2, scale, 2);
}

void set_scales(std::uint32_t random, std::uint8_t* scales) {
  const auto bits = static_cast<std::uint16_t>(random % 0x3000U);
  std::memcpy(scales, &bits, sizeof(bits));
}

constexpr std::array kLayouts = {BlockFormat{
    .name = "q8_0",
    .layout_name = "q8_0",
    .type = {"Q8_0", 8, 32, kBlockBytes},
    .codes_offset = kCodesOffset,
    .layout = {.codes_bytes = kBlockBytes, .scales_bytes = kBlockBytes, .unpack = unpack},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kQ80Kernels,
            .avx2 = &cpu::avx2::kQ80Kernels,
            .avx512 = &cpu::avx512::kQ80Kernels,
            .avx512vnni = &cpu::avx512vnni::kQ80Kernels,
        },
    .prepared_codes_bytes = 512,
    .prepared_scales_bytes = 32,
    .prepare = prepare,
    .set_scales = set_scales,
}};

}  // namespace

WeightFormat q8_0_format() {
  return {.name = "q8_0", .blocks = kLayouts};
}

}  // namespace rapt
