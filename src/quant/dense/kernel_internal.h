#pragma once

#include <cstdint>

#include "quant/multiply_rows_internal.h"
#include "tensor/dtype.h"
#include "tensor/stream.h"

namespace rapt {

// One matrix of F32, F16 or BF16 values, stored in one of two ways. By rows: row 2i begins at
// rows[0] + i * row_stride, row 2i + 1 at rows[1] + i * row_stride. By columns, where `columns` is
// not null: element (feature, k) lies at columns[feature + k * row_stride]. Strides count elements.
struct DenseMatrix {
  const void* rows[2] = {};
  const void* columns = nullptr;
  std::int64_t row_stride = 0;
  DType dtype = DType::kBF16;
  std::int64_t in_features = 0;
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
