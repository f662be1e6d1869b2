#include "quant/dense/kernel_internal.h"
#include "quant/ref_multiply_internal.h"
#include "tensor/float_bits.h"

namespace rapt {

namespace cpu::scalar {
extern const DenseMultiply kDenseMultiply;
}

namespace cpu::avx2 {
extern const DenseMultiply kDenseMultiply;
}

namespace cpu::avx512 {
extern const DenseMultiply kDenseMultiply;
}

namespace {

float element(const DenseMatrix& matrix, std::int64_t feature, std::int64_t k) {
  const bool by_rows = matrix.columns == nullptr;
  const void* data = by_rows ? matrix.rows[feature % 2] : matrix.columns;
  const std::int64_t idx =
      by_rows ? feature / 2 * matrix.row_stride + k : feature + k * matrix.row_stride;
  if (matrix.dtype == DType::kF32) {
    return static_cast<const float*>(data)[idx];
  }
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[idx];
  return matrix.dtype == DType::kBF16 ? bf16_to_f32(bits) : f16_to_f32(bits);
}

void reference_multiply(
    const DenseMatrix& matrix,
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

DenseMultiply dense_multiply(CpuLevel level) {
  return KernelBuilds<DenseMultiply>{
      .reference = reference_multiply,
      .scalar = cpu::scalar::kDenseMultiply,
      .avx2 = cpu::avx2::kDenseMultiply,
      .avx512 = cpu::avx512::kDenseMultiply,
  }
      .at(level);
}

}  // namespace rapt
