#include "quant/mxfp4/format.h"
#include "quant/mxfp4/kernel_internal.h"
#include "quant/ref_multiply_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const Mxfp4Multiply kMxfp4Multiply;
}

namespace cpu::avx2 {
extern const Mxfp4Multiply kMxfp4Multiply;
}

namespace cpu::avx512 {
extern const Mxfp4Multiply kMxfp4Multiply;
}

namespace {

float element(const Mxfp4Matrix& matrix, std::int64_t feature, std::int64_t k) {
  const std::int64_t block = feature * (matrix.in_features / kMxfp4BlockSize) + k / kMxfp4BlockSize;
  const std::int64_t idx = k % kMxfp4BlockSize;
  const std::uint8_t pair = matrix.blocks[block * kMxfp4BlockBytes + idx / 2];
  const unsigned code = idx % 2 == 0 ? pair & 15U : pair >> 4U;
  return static_cast<float>(kMxfp4DoubledCodes[code]) * mxfp4_half_scale(matrix.scales[block]);
}

void reference_multiply(
    const Mxfp4Matrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
) {
  ref_multiply(
      matrix.in_features,
      first_feature,
      end_feature,
      bias,
      rows,
      [&](std::int64_t feature, std::int64_t k) { return element(matrix, feature, k); }
  );
}

}  // namespace

Mxfp4Multiply mxfp4_multiply(CpuLevel level) {
  return KernelBuilds<Mxfp4Multiply>{
      .reference = reference_multiply,
      .scalar = cpu::scalar::kMxfp4Multiply,
      .avx2 = cpu::avx2::kMxfp4Multiply,
      .avx512 = cpu::avx512::kMxfp4Multiply,
  }
      .at(level);
}

}  // namespace rapt
