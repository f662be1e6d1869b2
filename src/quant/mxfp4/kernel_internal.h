#pragma once

#include <cstdint>

#include "quant/multiply_rows_internal.h"
#include "tensor/stream.h"

namespace rapt {

// One matrix in MXFP4: out_features rows of in_features / 32 blocks.
struct Mxfp4Matrix {
  const std::uint8_t* blocks = nullptr;
  const std::uint8_t* scales = nullptr;
  std::int64_t in_features = 0;
};

using Mxfp4Multiply = void (*)(
    const Mxfp4Matrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
);

Mxfp4Multiply mxfp4_multiply(CpuLevel level);

}  // namespace rapt
