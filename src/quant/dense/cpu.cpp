#include "quant/cpu_multiply_internal.h"
#include "quant/dense/kernel_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

template <DType kType>
Vec load_16(const void* data, int64_t idx) {
  if constexpr (kType == DType::kF32) {
    return load(static_cast<const float*>(data) + idx);
  } else if constexpr (kType == DType::kBF16) {
    return load_bf16(static_cast<const uint16_t*>(data) + idx);
  } else {
    return load_f16(static_cast<const uint16_t*>(data) + idx);
  }
}

// Fewer than 16 elements, never reading past them.
template <DType kType>
Vec load_first_16(const void* data, int64_t idx, int64_t count) {
  if constexpr (kType == DType::kF32) {
    return load_first(static_cast<const float*>(data) + idx, count);
  } else {
    uint16_t bits[kLanes] = {};
    __builtin_memcpy(
        bits,
        static_cast<const uint16_t*>(data) + idx,
        sizeof(uint16_t) * static_cast<uint64_t>(count)
    );
    return load_16<kType>(bits, 0);
  }
}

template <DType kType>
void multiply(
    const DenseMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  const auto decode_rows =
      [&](int64_t feature, int64_t num_features, int64_t k, int64_t num_k, float* tile) {
        for (int64_t f = 0; f < num_features; ++f) {
          const void* row = matrix.rows[(feature + f) % 2];
          const int64_t from = (feature + f) / 2 * matrix.row_stride + k;
          float* to = tile + f * kTileDepth;
          int64_t idx = 0;
          for (; idx + kLanes <= num_k; idx += kLanes) {
            store(to + idx, load_16<kType>(row, from + idx));
          }
          if (idx < num_k) {
            store_first(to + idx, load_first_16<kType>(row, from + idx, num_k - idx), num_k - idx);
          }
        }
      };
  const auto decode_columns =
      [&](int64_t feature, int64_t num_features, int64_t k, int64_t num_k, float* tile) {
        for (int64_t idx = 0; idx < num_k; ++idx) {
          float values[kLanes];
          store(
              values,
              load_first_16<kType>(
                  matrix.columns, (k + idx) * matrix.row_stride + feature, num_features
              )
          );
          for (int64_t f = 0; f < num_features; ++f) {
            tile[f * kTileDepth + idx] = values[f];
          }
        }
      };
  if (matrix.columns == nullptr) {
    cpu_multiply(matrix.in_features, first_feature, end_feature, bias, rows, decode_rows);
  } else {
    cpu_multiply(matrix.in_features, first_feature, end_feature, bias, rows, decode_columns);
  }
}

void multiply_any(
    const DenseMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  switch (matrix.dtype) {
    case DType::kF32:
      return multiply<DType::kF32>(matrix, bias, first_feature, end_feature, rows);
    case DType::kF16:
      return multiply<DType::kF16>(matrix, bias, first_feature, end_feature, rows);
    default:
      return multiply<DType::kBF16>(matrix, bias, first_feature, end_feature, rows);
  }
}

}  // namespace

extern const DenseMultiply kDenseMultiply;
const DenseMultiply kDenseMultiply = multiply_any;

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
