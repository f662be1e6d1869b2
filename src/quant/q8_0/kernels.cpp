#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/q8_0/format.h"
#include "quant/q8_0/kernels_internal.h"
#include "tensor/float_bits.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockMultiply kQ80Multiply;
}

namespace cpu::avx2 {
extern const BlockMultiply kQ80Multiply;
}

namespace cpu::avx512 {
extern const BlockMultiply kQ80Multiply;
}

namespace cpu::avx512vnni {
extern const BlockMultiply kQ80Multiply;
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

}  // namespace

KernelBuilds<BlockMultiply> q8_0_multiply() {
  return {
      .reference = ref_multiply_blocks<Q80>,
      .scalar = cpu::scalar::kQ80Multiply,
      .avx2 = cpu::avx2::kQ80Multiply,
      .avx512 = cpu::avx512::kQ80Multiply,
      .avx512vnni = cpu::avx512vnni::kQ80Multiply,
  };
}

}  // namespace rapt
