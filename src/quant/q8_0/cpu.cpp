#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

float f16_at(const uint8_t* p) {
  uint16_t bits[kLanes] = {};
  __builtin_memcpy(bits, p, sizeof(bits[0]));
  float values[kLanes];
  store(values, load_f16(bits));
  return values[0];
}

struct Q80 {
  static float unpack_block(
      const BlockMatrix& matrix, int64_t feature, int64_t block, int8_t* codes
  ) {
    __builtin_memcpy(codes, codes_of(matrix, feature) + block * 34, kPackedBlockSize);
    return f16_at(scales_of(matrix, feature) + block * 34);
  }
};

void multiply(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  if (rows.mode == LinearMode::kF32) {
    multiply_blocks_f32<Q80>(matrix, bias, first_feature, end_feature, rows);
  } else {
    multiply_blocks_plainly<Q80>(matrix, bias, first_feature, end_feature, rows);
  }
}

}  // namespace

extern const BlockMultiply kQ80Multiply;
const BlockMultiply kQ80Multiply = multiply;

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
