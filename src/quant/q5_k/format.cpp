#include <array>
#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/block/super_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ5KKernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ5KKernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ5KKernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ5KKernels;
}

namespace {

// 256 inputs are 176 bytes: a header of 16 (block/super_internal.h), and integers from 0 to 31:
//   byte 16: high[32]  of input 32 p + i, bit p of byte i is the highest bit (p < 8, i < 32)
//   byte 48: low[128]  of inputs 64 n + i and 64 n + 32 + i, byte 32 n + i holds the low four bits,
//                      the former's below (n < 4, i < 32)
constexpr std::int64_t kHighOffset = kSuperHeaderBytes;
constexpr std::int64_t kLowOffset = kHighOffset + 32;
constexpr std::int64_t kSuperBytes = kLowOffset + 128;

void unpack(
    const std::uint8_t* stored, const std::uint8_t* /*scales*/, std::int64_t part, UnpackedBlock* to
) {
  unpack_super_min(stored, part, to);
  const std::uint8_t* high = stored + kHighOffset;
  const std::uint8_t* pairs = stored + kLowOffset + part / 2 * 32;
  for (std::int64_t idx = 0; idx < 32; ++idx) {
    const unsigned low = part % 2 == 0 ? pairs[idx] & 15U : pairs[idx] >> 4U;
    const unsigned bit = unsigned{high[idx]} >> static_cast<unsigned>(part) & 1U;
    to->codes[idx] = static_cast<std::int8_t>(low | bit << 4U);
  }
}

void prepare(
    const std::uint8_t* stored,
    const std::uint8_t* /*scales*/,
    std::int64_t lane,
    std::uint8_t* to,
    std::uint8_t* /*to_scales*/
) {
  put_super_columns(stored, kSuperBytes, lane, to);
}

void set_scales(std::uint32_t random, std::uint8_t* stored) {
  set_super_min_factors(random, stored);
}

constexpr std::array kLayouts = {BlockFormat{
    .name = "q5_k",
    .layout_name = "q5_k",
    .type = {"Q5_K", 13, 256, kSuperBytes},
    .layout =
        {.codes_bytes = kSuperBytes,
         .scales_bytes = kSuperBytes,
         .num_parts = 8,
         .has_min = true,
         .unpack = unpack},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kQ5KKernels,
            .avx2 = &cpu::avx2::kQ5KKernels,
            .avx512 = &cpu::avx512::kQ5KKernels,
            .avx512vnni = &cpu::avx512vnni::kQ5KKernels,
        },
    .prepared_codes_bytes = 16 * kSuperBytes,
    .prepare = prepare,
    .max_byte = 31,
    .set_scales = set_scales,
}};

}  // namespace

WeightFormat q5_k_format() {
  return {.name = "q5_k", .blocks = kLayouts};
}

}  // namespace rapt
