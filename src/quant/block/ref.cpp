#include <cmath>
#include <cstring>
#include <vector>

#include "quant/block/ref_internal.h"
#include "quant/packed_input.h"
#include "quant/ref_multiply_internal.h"

namespace rapt {

namespace {

// The blocks of a feature's row.
std::vector<UnpackedBlock> unpack_row(const BlockMatrix& matrix, std::int64_t feature) {
  const BlockLayout& layout = matrix.layout;
  const std::uint8_t* codes = matrix.codes[feature % 2] + feature / 2 * matrix.codes_stride;
  const std::uint8_t* scales = matrix.scales[feature % 2] + feature / 2 * matrix.scales_stride;
  std::vector<UnpackedBlock> blocks(static_cast<std::size_t>(matrix.num_blocks));
  for (std::int64_t block = 0; block < matrix.num_blocks; ++block) {
    const std::int64_t stored = block / layout.num_parts;
    layout.unpack(
        codes + stored * layout.codes_bytes,
        scales + stored * layout.scales_bytes,
        block % layout.num_parts,
        &blocks[static_cast<std::size_t>(block)]
    );
  }
  return blocks;
}

float read_float(const std::uint8_t* p) {
  float value = 0.0F;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

// acc after one block of weights and of packed input.
float add_block(
    const BlockLayout& layout,
    const UnpackedBlock& block,
    LinearMode mode,
    const std::uint8_t* packed,
    float acc
) {
  const float x_scale = read_float(packed);
  const std::int64_t part_size = kPackedBlockSize / layout.num_scales;
  for (std::int64_t part = 0; part < layout.num_scales; ++part) {
    std::int32_t dot = 0;
    for (std::int64_t idx = part * part_size; idx < (part + 1) * part_size; ++idx) {
      const auto low = static_cast<std::int8_t>(packed[kPackedLowOffset + idx]);
      const int high =
          mode == LinearMode::kI16 ? static_cast<std::int8_t>(packed[kPackedHighOffset + idx]) : 0;
      dot += block.codes[idx] * (256 * high + low);
    }
    acc = std::fma(static_cast<float>(dot), block.scales[part] * x_scale, acc);
  }
  if (layout.has_min) {
    acc = std::fma(block.min, read_float(packed + kPackedScaledSumOffset), acc);
  }
  return acc;
}

}  // namespace

void ref_multiply_blocks(
    const BlockMatrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
) {
  for (std::int64_t feature = first_feature; feature < end_feature; ++feature) {
    const std::vector<UnpackedBlock> blocks = unpack_row(matrix, feature);
    if (rows.mode == LinearMode::kF32) {
      const auto weight = [&](std::int64_t /*feature*/, std::int64_t k) {
        const UnpackedBlock& block = blocks[static_cast<std::size_t>(k / kPackedBlockSize)];
        return block_weight(matrix.layout, block, k % kPackedBlockSize);
      };
      const std::int64_t in_features = matrix.num_blocks * kPackedBlockSize;
      ref_multiply(in_features, feature, feature + 1, bias, rows, weight);
      continue;
    }
    for (std::int64_t row = rows.first_row; row < rows.first_row + rows.num_rows; ++row) {
      const std::int64_t input_row = rows.input_rows == nullptr ? row : rows.input_rows[row];
      const std::uint8_t* packed = rows.packed + input_row * rows.packed_stride;
      float acc = 0.0F;
      for (const UnpackedBlock& block : blocks) {
        acc = add_block(matrix.layout, block, rows.mode, packed, acc);
        packed += packed_block_bytes(rows.mode);
      }
      rows.y[row * rows.y_stride + feature] = bias == nullptr ? acc : acc + bias[feature];
    }
  }
}

}  // namespace rapt
