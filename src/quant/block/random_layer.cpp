#include <cstring>
#include <utility>
#include <vector>

#include "quant/block/random_layer_internal.h"

namespace rapt {

namespace {

// Numbers without a pattern.
class Numbers {
 public:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ ^ state_ >> 29U;
  }

  // About normal.
  float next_value() {
    float sum = -2.0F;
    const std::uint64_t bits = next();
    for (unsigned idx = 0; idx < 4; ++idx) {
      sum += static_cast<float>(bits >> 16U * idx & 0xFFFFU) / 65536.0F;
    }
    return sum;
  }

 private:
  std::uint64_t state_ = 1;
};

Result<Buffer> allocate(std::int64_t num_bytes) {
  return Buffer::allocate(static_cast<std::uint64_t>(num_bytes), "random weights");
}

}  // namespace

Result<RandomLayer> make_random_layer(const BlockFormat& format, const RandomLayerSizes& sizes) {
  const bool has_own_scales = !format.is_in_gguf;
  const std::int64_t row_blocks = sizes.in_features / format.type.elements;
  const std::int64_t row_bytes = row_blocks * format.type.bytes;
  const std::int64_t num_blocks = sizes.num_matrices * sizes.out_features * row_blocks;
  const std::int64_t num_bytes = num_blocks * format.type.bytes;
  Numbers numbers;
  RandomLayer layer;
  ASSIGN_OR_RETURN(layer.stored, allocate(num_bytes));
  auto* stored = static_cast<std::uint8_t*>(layer.stored.data());
  for (std::int64_t idx = 0; idx < num_bytes; idx += 8) {
    const std::uint64_t value = numbers.next();
    const std::int64_t left = num_bytes - idx;
    std::memcpy(stored + idx, &value, static_cast<std::size_t>(left < 8 ? left : 8));
  }
  std::uint8_t* scales = stored;
  std::int64_t scales_row_bytes = row_bytes;
  if (has_own_scales) {
    scales_row_bytes = row_blocks * format.layout.scales_bytes;
    ASSIGN_OR_RETURN(layer.scales, allocate(num_blocks * format.layout.scales_bytes));
    scales = static_cast<std::uint8_t*>(layer.scales.data());
  }
  for (std::int64_t block = 0; block < num_blocks; ++block) {
    const auto random = static_cast<std::uint32_t>(numbers.next());
    format.set_scales(random, scales + block * format.layout.scales_bytes);
  }
  const std::int64_t num_parts = sizes.is_split ? 2 : 1;
  const std::int64_t part_rows = sizes.out_features / num_parts;
  BlockTensors tensors;
  for (std::int64_t part = 0; part < num_parts; ++part) {
    const std::int64_t first_row = part * sizes.num_matrices * part_rows;
    const std::uint8_t* codes = stored + first_row * row_bytes + format.codes_offset;
    tensors.codes[part] = {codes, row_bytes, part_rows * row_bytes};
    tensors.scales[part] = {
        scales + first_row * scales_row_bytes, scales_row_bytes, part_rows * scales_row_bytes};
  }
  std::vector<float> bias;
  if (sizes.has_bias) {
    bias.resize(static_cast<std::size_t>(sizes.num_matrices * sizes.out_features));
    for (float& value : bias) {
      value = numbers.next_value();
    }
  }
  LinearSpec spec;
  spec.in_features = sizes.in_features;
  spec.out_features = sizes.out_features;
  spec.num_experts = sizes.num_matrices;
  layer.linear = std::make_unique<BlockLinear>(format, tensors, std::move(bias), spec);
  return layer;
}

}  // namespace rapt
