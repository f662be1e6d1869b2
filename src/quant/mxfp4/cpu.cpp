#include "quant/block/cpu_bytes_internal.h"
#include "quant/block/cpu_plain_internal.h"
#include "quant/mxfp4/cpu_rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

template <typename Layout>
struct Format {
  using Rows = Layout;
  using PreparedRows = Mxfp4PreparedRows;
  using Dots = ByteDots<kMxfp4OffsetShift>;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    const int64_t half_bytes = (num_blocks * (256 + 16) + 63) / 64 * 64;
    const uint8_t* codes = piece + half * half_bytes;
    return {codes, codes + num_blocks * 256, 0, 0};
  }

  static float unpack_block(
      const BlockMatrix& matrix, int64_t feature, int64_t block, int8_t* codes
  ) {
    Layout::unpack_codes(codes_of(matrix, feature) + block * Layout::kBlockBytes, codes);
    return mxfp4_scale(scales_of(matrix, feature)[block * Layout::kScaleBytes]);
  }
};

template <typename Layout>
void multiply_plainly(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  if (rows.mode == LinearMode::kF32) {
    multiply_blocks_f32<Format<Layout>>(matrix, bias, first_feature, end_feature, rows);
  } else {
    multiply_blocks_plainly<Format<Layout>>(matrix, bias, first_feature, end_feature, rows);
  }
}

}  // namespace

extern const BlockKernels kMxfp4PairsKernels;
const BlockKernels kMxfp4PairsKernels = {
    multiply_plainly<Mxfp4PairsRows>, multiply_blocks<Format<Mxfp4PairsRows>>};

extern const BlockKernels kMxfp4OllamaKernels;
const BlockKernels kMxfp4OllamaKernels = {
    multiply_plainly<Mxfp4OllamaRows>, multiply_blocks<Format<Mxfp4OllamaRows>>};

extern const BlockKernels kMxfp4GgufKernels;
const BlockKernels kMxfp4GgufKernels = {
    multiply_plainly<Mxfp4GgufRows>, multiply_blocks<Format<Mxfp4GgufRows>>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
