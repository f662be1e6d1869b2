#include <array>
#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/block/super_internal.h"
#include "quant/registry_internal.h"
#include "tensor/float_bits.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ6KKernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ6KKernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ6KKernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ6KKernels;
}

namespace {

// 256 inputs are 210 bytes: integers q from 0 to 63, a scale s for each 16 of them, and d; an
// element is (d * s) * (q - 32), which fp32 holds exactly.
//   byte   0: low[128]    of inputs 128 n + i and 128 n + 64 + i, byte 64 n + i holds the low four
//   bits
//                         of q, the former's below (n < 2, i < 64)
//   byte 128: high[64]    of input 128 n + 32 j + i, bits 2 j and 2 j + 1 of byte 32 n + i are the
//   high
//                         two bits of q (n < 2, j < 4, i < 32)
//   byte 192: scales[16]  int8
//   byte 208: d           F16
constexpr std::int64_t kHighOffset = 128;
constexpr std::int64_t kScalesOffset = 192;
constexpr std::int64_t kFactorOffset = 208;
constexpr std::int64_t kSuperBytes = 210;

void unpack(
    const std::uint8_t* stored, const std::uint8_t* /*scales*/, std::int64_t part, UnpackedBlock* to
) {
  const std::int64_t n = part / 4;
  const std::int64_t j = part % 4;
  const std::uint8_t* low = stored + 64 * n + 32 * (j % 2);
  const std::uint8_t* high = stored + kHighOffset + 32 * n;
  for (std::int64_t idx = 0; idx < 32; ++idx) {
    const unsigned low_bits = j < 2 ? low[idx] & 15U : low[idx] >> 4U;
    const unsigned high_bits = unsigned{high[idx]} >> static_cast<unsigned>(2 * j) & 3U;
    to->codes[idx] = static_cast<std::int8_t>(static_cast<int>(low_bits | high_bits << 4U) - 32);
  }
  std::uint16_t factor_bits = 0;
  std::memcpy(&factor_bits, stored + kFactorOffset, sizeof(factor_bits));
  const float d = f16_to_f32(factor_bits);
  for (std::int64_t half = 0; half < 2; ++half) {
    const auto scale = static_cast<std::int8_t>(stored[kScalesOffset + 2 * part + half]);
    to->scales[half] = d * static_cast<float>(scale);
  }
  to->min = 0.0F;
}

void prepare(
    const std::uint8_t* stored,
    const std::uint8_t* /*scales*/,
    std::int64_t lane,
    std::uint8_t* to,
    std::uint8_t* to_scales
) {
  put_super_columns(stored, kFactorOffset, lane, to);
  std::memcpy(to_scales + lane * 2, stored + kFactorOffset, 2);
}

void set_scales(std::uint32_t random, std::uint8_t* stored) {
  const auto d = static_cast<std::uint16_t>((random & 1U) << 15U | random % 0x2400U);
  std::memcpy(stored + kFactorOffset, &d, sizeof(d));
}

constexpr std::array kLayouts = {BlockFormat{
    .name = "q6_k",
    .layout_name = "q6_k",
    .type = {"Q6_K", 14, 256, kSuperBytes},
    .layout =
        {.codes_bytes = kSuperBytes,
         .scales_bytes = kSuperBytes,
         .num_parts = 8,
         .num_scales = 2,
         .unpack = unpack},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kQ6KKernels,
            .avx2 = &cpu::avx2::kQ6KKernels,
            .avx512 = &cpu::avx512::kQ6KKernels,
            .avx512vnni = &cpu::avx512vnni::kQ6KKernels,
        },
    .prepared_codes_bytes = 16 * kFactorOffset,
    .prepared_scales_bytes = 32,
    .prepare = prepare,
    .max_byte = 63,
    .set_scales = set_scales,
}};

}  // namespace

WeightFormat q6_k_format() {
  return {.name = "q6_k", .blocks = kLayouts};
}

}  // namespace rapt
