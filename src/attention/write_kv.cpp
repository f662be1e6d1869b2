#include <algorithm>
#include <bit>
#include <cmath>

#include "attention/kv_cache.h"
#include "attention/metadata.h"
#include "tensor/float_bits.h"

namespace rapt {

namespace {

// The place of one row's K and V.
struct Slot {
  std::int64_t block = 0;
  std::int64_t in_block = 0;
};

Slot slot_of(
    const AttentionMetadata& metadata, int group_idx, std::int64_t block_size, std::int64_t row
) {
  const std::int32_t sequence_idx = metadata.sequence_of_row[static_cast<std::size_t>(row)];
  const SequenceRows& rows = metadata.sequences[static_cast<std::size_t>(sequence_idx)];
  const std::int64_t position = rows.first_position + (row - rows.first_row);
  const auto table = rows.block_tables[static_cast<std::size_t>(group_idx)];
  return Slot{table[static_cast<std::size_t>(position / block_size)], position % block_size};
}

// Calls place(dim, element) for each of `count` elements of `from`, rounded to the type.
template <typename Element, typename Round, typename Place>
void round_row(const float* from, std::int64_t count, void* to, Round round, Place place) {
  Element* elements = static_cast<Element*>(to);
  for (std::int64_t dim = 0; dim < count; ++dim) {
    elements[place(dim)] = round(from[dim]);
  }
}

template <typename Place>
void store_row(
    const float* from, std::int64_t count, DType dtype, float scale, void* to, Place place
) {
  switch (dtype) {
    case DType::kF32:
      return round_row<float>(
          from, count, to, [](float x) { return x; }, place
      );
    case DType::kBF16:
      return round_row<std::uint16_t>(from, count, to, f32_to_bf16, place);
    default:
      // The scale is a power of two, so this division is exact but for subnormal results.
      return round_row<std::uint8_t>(
          from, count, to, [scale](float x) { return f32_to_f8e4m3(x / scale); }, place
      );
  }
}

}  // namespace

float f8_scale(const float* first, std::int64_t head_dim) {
  float greatest = 0.0F;
  for (std::int64_t dim = 0; dim < head_dim; ++dim) {
    greatest = std::max(greatest, std::fabs(first[dim]));
  }
  constexpr float kGreatestWanted = 28.0F;  // a sixteenth of E4M3's greatest number
  if (!(greatest > 0.0F) || std::isinf(greatest)) {
    return 1.0F;
  }
  int exponent = 0;
  const float fraction = std::frexp(greatest / kGreatestWanted, &exponent);  // in [0.5, 1)
  // Kernels multiply the scale by 2^120.
  exponent = std::clamp(fraction == 0.5F ? exponent - 1 : exponent, -100, 7);
  return std::ldexp(1.0F, exponent);
}

void write_kv(
    const Stream& stream,
    const KVLayerView& layer,
    const AttentionMetadata& metadata,
    int group_idx,
    Tensor k,
    Tensor v
) {
  CHECK(k.shape() == v.shape() && k.size(0) == metadata.num_tokens, k.shape().to_string());
  CHECK(k.size(1) == layer.num_kv_heads && k.size(2) == layer.head_dim, k.shape().to_string());
  const std::int64_t num_heads = layer.num_kv_heads;
  const std::int64_t head_dim = layer.head_dim;
  const std::int64_t pack = 4 / size_of(layer.dtype);
  constexpr std::int64_t kRowsAtOnce = 8;
  const auto each_row = [&](auto&& body) {
    stream.pool
        ->parallel_for(metadata.num_tokens, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            body(row, slot_of(metadata, group_idx, layer.block_size, row));
          }
        });
  };
  if (layer.scales != nullptr) {
    each_row([&](std::int64_t row, const Slot& slot) {
      if (slot.in_block != 0) {
        return;
      }
      float* scales = layer.scales + slot.block * num_heads * 2;
      for (std::int64_t head = 0; head < num_heads; ++head) {
        const std::int64_t from = (row * num_heads + head) * head_dim;
        scales[2 * head] = f8_scale(k.f32() + from, head_dim);
        scales[2 * head + 1] = f8_scale(v.f32() + from, head_dim);
      }
    });
  }
  each_row([&](std::int64_t row, const Slot& slot) {
    for (std::int64_t head = 0; head < num_heads; ++head) {
      const std::int64_t from = (row * num_heads + head) * head_dim;
      const std::int64_t piece = slot.block * layer.block_stride() + head * layer.head_stride();
      const float* scales =
          layer.scales != nullptr ? layer.scales + (slot.block * num_heads + head) * 2 : nullptr;
      store_row(
          k.f32() + from,
          head_dim,
          layer.dtype,
          scales != nullptr ? scales[0] : 1.0F,
          static_cast<char*>(layer.k) + piece * size_of(layer.dtype),
          [&](std::int64_t dim) { return k_offset(slot.in_block, dim, head_dim, pack); }
      );
      store_row(
          v.f32() + from,
          head_dim,
          layer.dtype,
          scales != nullptr ? scales[1] : 1.0F,
          static_cast<char*>(layer.v) + piece * size_of(layer.dtype),
          [&](std::int64_t dim) { return v_offset(slot.in_block, dim, head_dim, pack); }
      );
    }
  });
}

}  // namespace rapt
