#pragma once

// The integer multiply of block formats by plain loops, for files that are compiled once a CPU
// level. Any number of features and rows.

#include "kernels/cpu/vec.h"
#include "quant/block/matrix_internal.h"
#include "quant/cpu_multiply_internal.h"
#include "quant/packed_input.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

static inline const uint8_t* codes_of(const BlockMatrix& matrix, int64_t row) {
  return matrix.codes[row % 2] + row / 2 * matrix.codes_stride;
}

static inline const uint8_t* scales_of(const BlockMatrix& matrix, int64_t row) {
  return matrix.scales[row % 2] + row / 2 * matrix.scales_stride;
}

// `Format` has unpack_block(matrix, feature, block, codes), which writes the 32 integers of a block
// in order and returns their scale.
template <typename Format>
static inline void multiply_blocks_plainly(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  const bool is_i16 = rows.mode == LinearMode::kI16;
  const int64_t block_bytes = is_i16 ? kPackedI16Bytes : kPackedI8Bytes;
  for (int64_t row = rows.first_row; row < rows.first_row + rows.num_rows; ++row) {
    const int64_t input_row = rows.input_rows == nullptr ? row : rows.input_rows[row];
    for (int64_t feature = first_feature; feature < end_feature; ++feature) {
      const uint8_t* packed = rows.packed + input_row * rows.packed_stride;
      float acc = 0.0F;
      for (int64_t block = 0; block < matrix.num_blocks; ++block) {
        int8_t codes[kPackedBlockSize];
        const float w_scale = Format::unpack_block(matrix, feature, block, codes);
        int32_t dot = 0;
        for (int64_t idx = 0; idx < kPackedBlockSize; ++idx) {
          int32_t q = static_cast<int8_t>(packed[kPackedLowOffset + idx]);
          if (is_i16) {
            q += 256 * static_cast<int8_t>(packed[kPackedHighOffset + idx]);
          }
          dot += codes[idx] * q;
        }
        float x_scale;
        __builtin_memcpy(&x_scale, packed, sizeof(x_scale));
        acc = __builtin_fmaf(static_cast<float>(dot), w_scale * x_scale, acc);
        packed += block_bytes;
      }
      rows.y[row * rows.y_stride + feature] = bias == nullptr ? acc : acc + bias[feature];
    }
  }
}

// The f32 mode: weights decoded to fp32.
template <typename Format>
static inline void multiply_blocks_f32(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  const auto decode =
      [&](int64_t feature, int64_t num_features, int64_t k, int64_t num_k, float* tile) {
        for (int64_t f = 0; f < num_features; ++f) {
          for (int64_t b = 0; b < num_k / kPackedBlockSize; ++b) {
            int8_t codes[kPackedBlockSize];
            const Vec scale =
                splat(Format::unpack_block(matrix, feature + f, k / kPackedBlockSize + b, codes));
            float* to = tile + f * kTileDepth + b * kPackedBlockSize;
            store(to, mul(load_i8(codes), scale));
            store(to + kLanes, mul(load_i8(codes + kLanes), scale));
          }
        }
      };
  cpu_multiply(
      matrix.num_blocks * kPackedBlockSize, first_feature, end_feature, bias, rows, decode
  );
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
