#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

// kMxfp4DoubledCodes and mxfp4_half_scale of format.h, which this file may not share.
alignas(16) constexpr int8_t kDoubledCodes[16] = {
    0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

float half_scale(uint8_t byte) {
  const uint32_t bits = byte == 255 ? 0x7FC00000U
                        : byte >= 2 ? static_cast<uint32_t>(byte - 1) << 23
                                    : 0x00200000U << byte;
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

// The doubled codes of the low nibbles and of the high nibbles of 16 bytes.
void unpack_nibbles(const uint8_t* block, int8_t* low, int8_t* high) {
#if defined(__AVX2__)
  const __m128i pairs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i table = _mm_load_si128(reinterpret_cast<const __m128i*>(kDoubledCodes));
  const __m128i first = _mm_shuffle_epi8(table, _mm_and_si128(pairs, mask));
  const __m128i second = _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi16(pairs, 4), mask));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(low), first);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(high), second);
#else
  for (int byte_idx = 0; byte_idx < 16; ++byte_idx) {
    low[byte_idx] = kDoubledCodes[block[byte_idx] & 15];
    high[byte_idx] = kDoubledCodes[block[byte_idx] >> 4];
  }
#endif
}

// The layout of gpt-oss checkpoints: low nibbles are the even elements.
struct Pairs {
  static float unpack_block(
      const BlockMatrix& matrix, int64_t feature, int64_t block, int8_t* codes
  ) {
    int8_t even[16];
    int8_t odd[16];
    unpack_nibbles(codes_of(matrix, feature) + block * 16, even, odd);
    for (int idx = 0; idx < 16; ++idx) {
      codes[2 * idx] = even[idx];
      codes[2 * idx + 1] = odd[idx];
    }
    return half_scale(scales_of(matrix, feature)[block]);
  }
};

// The layout of GGUF files: low nibbles are the first 16 elements.
struct Gguf {
  static float unpack_block(
      const BlockMatrix& matrix, int64_t feature, int64_t block, int8_t* codes
  ) {
    unpack_nibbles(codes_of(matrix, feature) + block * 17, codes, codes + 16);
    return half_scale(scales_of(matrix, feature)[block * 17]);
  }
};

template <typename Format>
void multiply(
    const BlockMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  if (rows.mode == LinearMode::kF32) {
    multiply_blocks_f32<Format>(matrix, bias, first_feature, end_feature, rows);
  } else {
    multiply_blocks_plainly<Format>(matrix, bias, first_feature, end_feature, rows);
  }
}

}  // namespace

extern const BlockMultiply kMxfp4PairsMultiply;
const BlockMultiply kMxfp4PairsMultiply = multiply<Pairs>;

extern const BlockMultiply kMxfp4GgufMultiply;
const BlockMultiply kMxfp4GgufMultiply = multiply<Gguf>;

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
