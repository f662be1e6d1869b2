#include "quant/cpu_multiply_internal.h"
#include "quant/mxfp4/kernel_internal.h"

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

// The doubled codes of one block, in element order.
void unpack_block(const uint8_t* block, int8_t* codes) {
#if defined(__AVX2__)
  const __m128i pairs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i table = _mm_load_si128(reinterpret_cast<const __m128i*>(kDoubledCodes));
  const __m128i even = _mm_shuffle_epi8(table, _mm_and_si128(pairs, mask));
  const __m128i odd = _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi16(pairs, 4), mask));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(codes), _mm_unpacklo_epi8(even, odd));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + 16), _mm_unpackhi_epi8(even, odd));
#else
  for (int byte_idx = 0; byte_idx < 16; ++byte_idx) {
    codes[2 * byte_idx] = kDoubledCodes[block[byte_idx] & 15];
    codes[2 * byte_idx + 1] = kDoubledCodes[block[byte_idx] >> 4];
  }
#endif
}

void multiply(
    const Mxfp4Matrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  constexpr int64_t kBlockSize = 32;
  constexpr int64_t kBlockBytes = 16;
  const int64_t blocks_per_row = matrix.in_features / kBlockSize;
  const auto decode =
      [&](int64_t feature, int64_t num_features, int64_t k, int64_t num_k, float* tile) {
        for (int64_t f = 0; f < num_features; ++f) {
          const int64_t first_block = (feature + f) * blocks_per_row + k / kBlockSize;
          for (int64_t b = 0; b < num_k / kBlockSize; ++b) {
            int8_t codes[kBlockSize];
            unpack_block(matrix.blocks + (first_block + b) * kBlockBytes, codes);
            const Vec scale = splat(half_scale(matrix.scales[first_block + b]));
            float* to = tile + f * kTileDepth + b * kBlockSize;
            store(to, mul(load_i8(codes), scale));
            store(to + kLanes, mul(load_i8(codes + kLanes), scale));
          }
        }
      };
  cpu_multiply(matrix.in_features, first_feature, end_feature, bias, rows, decode);
}

}  // namespace

extern const Mxfp4Multiply kMxfp4Multiply;
const Mxfp4Multiply kMxfp4Multiply = multiply;

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
