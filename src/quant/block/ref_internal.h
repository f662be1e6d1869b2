#pragma once

#include "quant/block/matrix_internal.h"

namespace rapt {

// The exact value of a weight, rounded to fp32 once where a min is added.
inline float block_weight(const BlockLayout& layout, const UnpackedBlock& block, std::int64_t idx) {
  const float product = static_cast<float>(block.codes[idx]) * block.scales[idx / 16];
  return layout.has_min ? product + block.min : product;
}

// The definition of a linear layer in a block format (docs/NUMERICS.md, rule 2).
void ref_multiply_blocks(
    const BlockMatrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
);

inline constexpr BlockKernels kReferenceBlockKernels = {ref_multiply_blocks};

}  // namespace rapt
