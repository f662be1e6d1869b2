#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/q8_0/block_format_internal.h"
#include "quant/q8_0/format.h"
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

struct Q80 {
  static int code(const BlockMatrix& matrix, std::int64_t feature, std::int64_t k) {
    const std::uint8_t* row = matrix.codes_of(feature);
    return static_cast<std::int8_t>(row[k / kQ80BlockSize * kQ80Blocks.bytes + k % kQ80BlockSize]);
  }

  static float scale(const BlockMatrix& matrix, std::int64_t feature, std::int64_t block) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, matrix.scales_of(feature) + block * kQ80Blocks.bytes, sizeof(bits));
    return f16_to_f32(bits);
  }
};

constexpr BlockKernels kQ80Reference = {ref_multiply_blocks<Q80>};

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

}  // namespace

BlockFormat q8_0_block_format() {
  return {
      .name = "q8_0",
      .kernels =
          {
              .reference = &kQ80Reference,
              .scalar = &cpu::scalar::kQ80Kernels,
              .avx2 = &cpu::avx2::kQ80Kernels,
              .avx512 = &cpu::avx512::kQ80Kernels,
              .avx512vnni = &cpu::avx512vnni::kQ80Kernels,
          },
      .codes_block_bytes = kQ80Blocks.bytes,
      .scales_block_bytes = kQ80Blocks.bytes,
      .prepared_codes_bytes = 512,
      .prepared_scales_bytes = 32,
      .prepare = prepare,
  };
}

}  // namespace rapt
