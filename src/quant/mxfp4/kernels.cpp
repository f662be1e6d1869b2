#include "quant/block/ref_internal.h"
#include "quant/mxfp4/format.h"
#include "quant/mxfp4/kernels_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockMultiply kMxfp4PairsMultiply;
extern const BlockMultiply kMxfp4GgufMultiply;
}  // namespace cpu::scalar

namespace cpu::avx2 {
extern const BlockMultiply kMxfp4PairsMultiply;
extern const BlockMultiply kMxfp4GgufMultiply;
}  // namespace cpu::avx2

namespace cpu::avx512 {
extern const BlockMultiply kMxfp4PairsMultiply;
extern const BlockMultiply kMxfp4GgufMultiply;
}  // namespace cpu::avx512

namespace cpu::avx512vnni {
extern const BlockMultiply kMxfp4PairsMultiply;
extern const BlockMultiply kMxfp4GgufMultiply;
}  // namespace cpu::avx512vnni

namespace {

struct Pairs {
  static int code(const BlockMatrix& matrix, std::int64_t feature, std::int64_t k) {
    const std::uint8_t pair = matrix.codes_of(feature)[k / 2];
    return kMxfp4DoubledCodes[k % 2 == 0 ? pair & 15U : pair >> 4U];
  }

  static float scale(const BlockMatrix& matrix, std::int64_t feature, std::int64_t block) {
    return mxfp4_half_scale(matrix.scales_of(feature)[block]);
  }
};

struct Gguf {
  static int code(const BlockMatrix& matrix, std::int64_t feature, std::int64_t k) {
    const std::int64_t idx = k % kMxfp4BlockSize;
    const std::uint8_t pair =
        matrix.codes_of(feature)[k / kMxfp4BlockSize * kMxfp4Blocks.bytes + idx % 16];
    return kMxfp4DoubledCodes[idx < 16 ? pair & 15U : pair >> 4U];
  }

  static float scale(const BlockMatrix& matrix, std::int64_t feature, std::int64_t block) {
    return mxfp4_half_scale(matrix.scales_of(feature)[block * kMxfp4Blocks.bytes]);
  }
};

}  // namespace

KernelBuilds<BlockMultiply> mxfp4_pairs_multiply() {
  return {
      .reference = ref_multiply_blocks<Pairs>,
      .scalar = cpu::scalar::kMxfp4PairsMultiply,
      .avx2 = cpu::avx2::kMxfp4PairsMultiply,
      .avx512 = cpu::avx512::kMxfp4PairsMultiply,
      .avx512vnni = cpu::avx512vnni::kMxfp4PairsMultiply,
  };
}

KernelBuilds<BlockMultiply> mxfp4_gguf_multiply() {
  return {
      .reference = ref_multiply_blocks<Gguf>,
      .scalar = cpu::scalar::kMxfp4GgufMultiply,
      .avx2 = cpu::avx2::kMxfp4GgufMultiply,
      .avx512 = cpu::avx512::kMxfp4GgufMultiply,
      .avx512vnni = cpu::avx512vnni::kMxfp4GgufMultiply,
  };
}

}  // namespace rapt
