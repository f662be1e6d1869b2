#pragma once

// The multiply of block formats by plain loops, for files that are compiled once a CPU level. Any
// number of features and rows, and the f32 mode.

#include "kernels/cpu/vec.h"
#include "quant/block/matrix_internal.h"
#include "quant/cpu_multiply_internal.h"
#include "quant/packed_input.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

// Block `block` of a feature's row.
static inline UnpackedBlock unpack_block(
    const BlockMatrix& matrix, int64_t feature, int64_t block
) {
  const BlockLayout& layout = matrix.layout;
  const int64_t stored = block / layout.num_parts;
  const uint8_t* codes = matrix.codes[feature % 2] + feature / 2 * matrix.codes_stride;
  const uint8_t* scales = matrix.scales[feature % 2] + feature / 2 * matrix.scales_stride;
  UnpackedBlock unpacked;
  layout.unpack(
      codes + stored * layout.codes_bytes,
      scales + stored * layout.scales_bytes,
      block % layout.num_parts,
      &unpacked
  );
  return unpacked;
}

// The integer products of 16 inputs from `first` on.
static inline int32_t dot_of_16(
    const int8_t* codes, const uint8_t* packed, int64_t first, bool is_i16
) {
  int32_t dot = 0;
  for (int64_t idx = first; idx < first + 16; ++idx) {
    int32_t q = static_cast<int8_t>(packed[kPackedLowOffset + idx]);
    if (is_i16) {
      q += 256 * static_cast<int8_t>(packed[kPackedHighOffset + idx]);
    }
    dot += codes[idx] * q;
  }
  return dot;
}

static inline void multiply_blocks_plainly(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  const BlockLayout& layout = matrix.layout;
  const bool is_i16 = rows.mode == LinearMode::kI16;
  for (int64_t feature = first_feature; feature < end_feature; ++feature) {
    for (int64_t row = rows.first_row; row < rows.first_row + rows.num_rows; ++row) {
      rows.y[row * rows.y_stride + feature] = 0.0F;
    }
    for (int64_t block = 0; block < matrix.num_blocks; ++block) {
      const UnpackedBlock weights = unpack_block(matrix, feature, block);
      for (int64_t row = rows.first_row; row < rows.first_row + rows.num_rows; ++row) {
        const int64_t input_row = rows.input_rows == nullptr ? row : rows.input_rows[row];
        const uint8_t* packed = rows.packed + input_row * rows.packed_stride +
                                block * (is_i16 ? kPackedI16Bytes : kPackedI8Bytes);
        float x_scale;
        float scaled_sum;
        __builtin_memcpy(&x_scale, packed, sizeof(x_scale));
        __builtin_memcpy(&scaled_sum, packed + kPackedScaledSumOffset, sizeof(scaled_sum));
        float& acc = rows.y[row * rows.y_stride + feature];
        int32_t first = dot_of_16(weights.codes, packed, 0, is_i16);
        const int32_t second = dot_of_16(weights.codes, packed, 16, is_i16);
        if (layout.num_scales == 2) {
          acc = __builtin_fmaf(static_cast<float>(first), weights.scales[0] * x_scale, acc);
          first = 0;
        }
        const float scale = weights.scales[1] * x_scale;
        acc = __builtin_fmaf(static_cast<float>(first + second), scale, acc);
        if (layout.has_min) {
          acc = __builtin_fmaf(weights.min, scaled_sum, acc);
        }
      }
    }
    if (bias != nullptr) {
      for (int64_t row = rows.first_row; row < rows.first_row + rows.num_rows; ++row) {
        rows.y[row * rows.y_stride + feature] += bias[feature];
      }
    }
  }
}

// The f32 mode: weights decoded to fp32.
static inline void multiply_blocks_f32(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  const bool has_min = matrix.layout.has_min;
  const auto decode =
      [&](int64_t feature, int64_t num_features, int64_t k, int64_t num_k, float* tile) {
        for (int64_t f = 0; f < num_features; ++f) {
          for (int64_t b = 0; b < num_k / kPackedBlockSize; ++b) {
            const UnpackedBlock block = unpack_block(matrix, feature + f, k / kPackedBlockSize + b);
            float* to = tile + f * kTileDepth + b * kPackedBlockSize;
            for (int64_t half = 0; half < 2; ++half) {
              const Vec codes = load_i8(block.codes + half * kLanes);
              const Vec product = mul(codes, splat(block.scales[half]));
              store(to + half * kLanes, has_min ? add(product, splat(block.min)) : product);
            }
          }
        }
      };
  cpu_multiply(
      matrix.num_blocks * kPackedBlockSize, first_feature, end_feature, bias, rows, decode
  );
}

// BlockKernels::plain.
static inline void multiply_plainly(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  if (rows.mode == LinearMode::kF32) {
    multiply_blocks_f32(matrix, bias, first_feature, end_feature, rows);
  } else {
    multiply_blocks_plainly(matrix, bias, first_feature, end_feature, rows);
  }
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
