#include <array>
#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/block/super_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ4KKernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ4KKernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ4KKernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ4KKernels;
}

namespace {

// 256 inputs are 144 bytes: a header of 16 (block/super_internal.h), and 128 bytes of integers from
// 0 to 15. Of inputs 64 n + i and 64 n + 32 + i, byte 32 n + i holds the former's below (n < 4, i <
// 32).
constexpr std::int64_t kCodesOffset = kSuperHeaderBytes;
constexpr std::int64_t kSuperBytes = kCodesOffset + 128;

void unpack(
    const std::uint8_t* stored, const std::uint8_t* /*scales*/, std::int64_t part, UnpackedBlock* to
) {
  unpack_super_min(stored, part, to);
  const std::uint8_t* pairs = stored + kCodesOffset + part / 2 * 32;
  for (std::int64_t idx = 0; idx < 32; ++idx) {
    to->codes[idx] = static_cast<std::int8_t>(part % 2 == 0 ? pairs[idx] & 15U : pairs[idx] >> 4U);
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
    .name = "q4_k",
    .layout_name = "q4_k",
    .type = {"Q4_K", 12, 256, kSuperBytes},
    .layout =
        {.codes_bytes = kSuperBytes,
         .scales_bytes = kSuperBytes,
         .num_parts = 8,
         .has_min = true,
         .unpack = unpack},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kQ4KKernels,
            .avx2 = &cpu::avx2::kQ4KKernels,
            .avx512 = &cpu::avx512::kQ4KKernels,
            .avx512vnni = &cpu::avx512vnni::kQ4KKernels,
        },
    .prepared_codes_bytes = 16 * kSuperBytes,
    .prepare = prepare,
    .max_byte = 15,
    .set_scales = set_scales,
}};

}  // namespace

WeightFormat q4_k_format() {
  return {.name = "q4_k", .blocks = kLayouts};
}

}  // namespace rapt
