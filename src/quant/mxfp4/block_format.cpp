#include <cstring>

#include "quant/block/ref_internal.h"
#include "quant/mxfp4/block_format_internal.h"
#include "quant/mxfp4/format.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kMxfp4PairsKernels;
extern const BlockKernels kMxfp4GgufKernels;
extern const BlockKernels kMxfp4OllamaKernels;
}  // namespace cpu::scalar

namespace cpu::avx2 {
extern const BlockKernels kMxfp4PairsKernels;
extern const BlockKernels kMxfp4GgufKernels;
extern const BlockKernels kMxfp4OllamaKernels;
}  // namespace cpu::avx2

namespace cpu::avx512 {
extern const BlockKernels kMxfp4PairsKernels;
extern const BlockKernels kMxfp4GgufKernels;
extern const BlockKernels kMxfp4OllamaKernels;
}  // namespace cpu::avx512

namespace cpu::avx512vnni {
extern const BlockKernels kMxfp4PairsKernels;
extern const BlockKernels kMxfp4GgufKernels;
extern const BlockKernels kMxfp4OllamaKernels;
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

struct Ollama {
  static int code(const BlockMatrix& matrix, std::int64_t feature, std::int64_t k) {
    const std::int64_t block = k / kMxfp4BlockSize;
    const std::uint8_t* codes = matrix.codes_of(feature) + block * kMxfp4OllamaBlocks.bytes;
    const std::uint8_t pair = codes[k % kMxfp4BlockSize / 2];
    return kMxfp4DoubledCodes[k % 2 == 0 ? pair & 15U : pair >> 4U];
  }

  static float scale(const BlockMatrix& matrix, std::int64_t feature, std::int64_t block) {
    return Gguf::scale(matrix, feature, block);
  }
};

constexpr BlockKernels kPairsReference = {ref_multiply_blocks<Pairs>};
constexpr BlockKernels kGgufReference = {ref_multiply_blocks<Gguf>};
constexpr BlockKernels kOllamaReference = {ref_multiply_blocks<Ollama>};

// Bytes of nibbles in the order of GGUF files, as registers.
void put_codes(const std::uint8_t* codes, std::int64_t lane, std::uint8_t* to) {
  for (std::int64_t column = 0; column < 4; ++column) {
    std::memcpy(to + column * 64 + lane * 4, codes + column * 4, 4);
  }
}

void prepare_gguf(
    const std::uint8_t* codes,
    const std::uint8_t* scale,
    std::int64_t lane,
    std::uint8_t* to_codes,
    std::uint8_t* to_scales
) {
  put_codes(codes, lane, to_codes);
  to_scales[lane] = *scale;
}

void prepare_pairs(
    const std::uint8_t* codes,
    const std::uint8_t* scale,
    std::int64_t lane,
    std::uint8_t* to_codes,
    std::uint8_t* to_scales
) {
  std::array<std::uint8_t, kMxfp4BlockBytes> ordered{};
  for (std::size_t idx = 0; idx < ordered.size(); ++idx) {
    const auto nibble = [&](std::size_t element) {
      return (element % 2 == 0 ? codes[element / 2] : codes[element / 2] >> 4U) & 15U;
    };
    ordered[idx] = static_cast<std::uint8_t>(nibble(idx) | nibble(idx + 16) << 4U);
  }
  put_codes(ordered.data(), lane, to_codes);
  to_scales[lane] = *scale;
}

}  // namespace

BlockFormat mxfp4_pairs_format() {
  return {
      .name = "mxfp4",
      .kernels =
          {
              .reference = &kPairsReference,
              .scalar = &cpu::scalar::kMxfp4PairsKernels,
              .avx2 = &cpu::avx2::kMxfp4PairsKernels,
              .avx512 = &cpu::avx512::kMxfp4PairsKernels,
              .avx512vnni = &cpu::avx512vnni::kMxfp4PairsKernels,
          },
      .codes_block_bytes = kMxfp4BlockBytes,
      .scales_block_bytes = 1,
      .prepared_codes_bytes = 256,
      .prepared_scales_bytes = 16,
      .prepare = prepare_pairs,
  };
}

BlockFormat mxfp4_gguf_format() {
  return {
      .name = "mxfp4",
      .kernels =
          {
              .reference = &kGgufReference,
              .scalar = &cpu::scalar::kMxfp4GgufKernels,
              .avx2 = &cpu::avx2::kMxfp4GgufKernels,
              .avx512 = &cpu::avx512::kMxfp4GgufKernels,
              .avx512vnni = &cpu::avx512vnni::kMxfp4GgufKernels,
          },
      .codes_block_bytes = kMxfp4Blocks.bytes,
      .scales_block_bytes = kMxfp4Blocks.bytes,
      .prepared_codes_bytes = 256,
      .prepared_scales_bytes = 16,
      .prepare = prepare_gguf,
  };
}

BlockFormat mxfp4_ollama_format() {
  BlockFormat format = mxfp4_gguf_format();
  format.kernels = {
      .reference = &kOllamaReference,
      .scalar = &cpu::scalar::kMxfp4OllamaKernels,
      .avx2 = &cpu::avx2::kMxfp4OllamaKernels,
      .avx512 = &cpu::avx512::kMxfp4OllamaKernels,
      .avx512vnni = &cpu::avx512vnni::kMxfp4OllamaKernels,
  };
  format.prepare = prepare_pairs;
  return format;
}

}  // namespace rapt
