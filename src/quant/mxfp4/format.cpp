#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "quant/block/linear_internal.h"
#include "quant/block/ref_internal.h"
#include "quant/load_bias_internal.h"
#include "quant/mxfp4/format_internal.h"
#include "quant/registry_internal.h"

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

// Low nibbles are even elements.
void unpack_pairs(
    const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t /*part*/, UnpackedBlock* to
) {
  for (std::int64_t idx = 0; idx < kMxfp4BlockBytes; ++idx) {
    to->codes[2 * idx] = kMxfp4DoubledCodes[codes[idx] & 15U];
    to->codes[2 * idx + 1] = kMxfp4DoubledCodes[codes[idx] >> 4U];
  }
  to->scales[0] = to->scales[1] = mxfp4_half_scale(*scales);
  to->min = 0.0F;
}

// Low nibbles are the first half.
void unpack_halves(
    const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t /*part*/, UnpackedBlock* to
) {
  for (std::int64_t idx = 0; idx < kMxfp4BlockBytes; ++idx) {
    to->codes[idx] = kMxfp4DoubledCodes[codes[idx] & 15U];
    to->codes[idx + kMxfp4BlockBytes] = kMxfp4DoubledCodes[codes[idx] >> 4U];
  }
  to->scales[0] = to->scales[1] = mxfp4_half_scale(*scales);
  to->min = 0.0F;
}

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

// Powers of two around 2^-5.
void set_scales(std::uint32_t random, std::uint8_t* scales) {
  *scales = static_cast<std::uint8_t>(118 + random % 9);
}

constexpr std::int64_t kGgufBlockBytes = 1 + kMxfp4BlockBytes;

constexpr BlockFormat kPairs = {
    .name = "mxfp4",
    .layout_name = "mxfp4-pairs",
    .type = {"MXFP4", 0, kMxfp4BlockSize, kMxfp4BlockBytes},
    .is_in_gguf = false,
    .layout = {.codes_bytes = kMxfp4BlockBytes, .scales_bytes = 1, .unpack = unpack_pairs},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kMxfp4PairsKernels,
            .avx2 = &cpu::avx2::kMxfp4PairsKernels,
            .avx512 = &cpu::avx512::kMxfp4PairsKernels,
            .avx512vnni = &cpu::avx512vnni::kMxfp4PairsKernels,
        },
    .prepared_codes_bytes = 256,
    .prepared_scales_bytes = 16,
    .prepare = prepare_pairs,
    .max_byte = 28,
    .set_scales = set_scales,
};

constexpr BlockFormat kGguf = {
    .name = "mxfp4",
    .layout_name = "mxfp4",
    .type = {"MXFP4", 39, kMxfp4BlockSize, kGgufBlockBytes},
    .codes_offset = 1,
    .layout =
        {.codes_bytes = kGgufBlockBytes, .scales_bytes = kGgufBlockBytes, .unpack = unpack_halves},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kMxfp4GgufKernels,
            .avx2 = &cpu::avx2::kMxfp4GgufKernels,
            .avx512 = &cpu::avx512::kMxfp4GgufKernels,
            .avx512vnni = &cpu::avx512vnni::kMxfp4GgufKernels,
        },
    .prepared_codes_bytes = 256,
    .prepared_scales_bytes = 16,
    .prepare = prepare_gguf,
    .max_byte = 28,
    .set_scales = set_scales,
};

constexpr BlockFormat kOllama = {
    .name = "mxfp4",
    .layout_name = "mxfp4-ollama",
    .type = {"MXFP4 (Ollama's)", 4, kMxfp4BlockSize, kGgufBlockBytes},
    .codes_offset = 1,
    .layout =
        {.codes_bytes = kGgufBlockBytes, .scales_bytes = kGgufBlockBytes, .unpack = unpack_pairs},
    .kernels =
        {
            .reference = &kReferenceBlockKernels,
            .scalar = &cpu::scalar::kMxfp4OllamaKernels,
            .avx2 = &cpu::avx2::kMxfp4OllamaKernels,
            .avx512 = &cpu::avx512::kMxfp4OllamaKernels,
            .avx512vnni = &cpu::avx512vnni::kMxfp4OllamaKernels,
        },
    .prepared_codes_bytes = 256,
    .prepared_scales_bytes = 16,
    .prepare = prepare_pairs,
    .max_byte = 28,
    .set_scales = set_scales,
};

constexpr std::array kLayouts = {kPairs, kGguf, kOllama};

bool matches(const WeightLoader& loader, const LinearSpec& spec) {
  return !spec.blocks.empty() && (loader.has(spec.blocks) || loader.has(spec.scales));
}

// Blocks and scales in two tensors.
Result<std::unique_ptr<LinearMethod>> load(WeightLoader& loader, const LinearSpec& spec) {
  RETURN_IF_ERROR(check_block_rows(kPairs.type, spec.blocks, spec.in_features));
  CHECK(spec.second.empty() && spec.stored_rows == 0, "not a layout of MXFP4 tensors");
  const std::int64_t num_matrices = spec.num_experts.value_or(1);
  const std::int64_t num_blocks = spec.in_features / kMxfp4BlockSize;
  ASSIGN_OR_RETURN(
      const Tensor blocks,
      loader.take(
          spec.blocks,
          Shape{num_matrices, spec.out_features, num_blocks, kMxfp4BlockBytes},
          {DType::kU8}
      )
  );
  ASSIGN_OR_RETURN(
      const Tensor scales,
      loader.take(spec.scales, Shape{num_matrices, spec.out_features, num_blocks}, {DType::kU8})
  );
  const auto part = [&](Tensor tensor, std::int64_t row_bytes) {
    const auto* data = static_cast<const std::uint8_t*>(tensor.raw());
    return BlockTensors::Part{data, row_bytes, spec.out_features * row_bytes};
  };
  BlockTensors tensors;
  tensors.codes[0] = part(blocks, num_blocks * kMxfp4BlockBytes);
  tensors.scales[0] = part(scales, num_blocks);
  // The bias of a stack of one is [1, out].
  LinearSpec stack = spec;
  stack.num_experts = num_matrices;
  ASSIGN_OR_RETURN(std::vector<float> bias, load_bias(loader, stack));
  return std::unique_ptr<LinearMethod>(
      std::make_unique<BlockLinear>(kPairs, tensors, std::move(bias), spec)
  );
}

}  // namespace

WeightFormat mxfp4_format() {
  return {"mxfp4", kLayouts, matches, load};
}

}  // namespace rapt
