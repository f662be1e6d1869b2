#pragma once

#include <cstdint>

#include "quant/multiply_rows_internal.h"
#include "tensor/dtype.h"
#include "tensor/stream.h"

namespace rapt {

// One matrix of F32, F16 or BF16 values: element (feature, k) lies at
// data[feature * feature_stride + k * k_stride], one of the strides being 1.
struct DenseMatrix {
  const void* data = nullptr;
  DType dtype = DType::kBF16;
  std::int64_t in_features = 0;
  std::int64_t feature_stride = 0;
  std::int64_t k_stride = 1;
};

using DenseMultiply = void (*)(
    const DenseMatrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
);

DenseMultiply dense_multiply(CpuLevel level);

}  // namespace rapt
