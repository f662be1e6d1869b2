#include <cstring>

#include "quant/block/super_internal.h"
#include "tensor/float_bits.h"

namespace rapt {

void unpack_super_min(const std::uint8_t* super_block, std::int64_t part, UnpackedBlock* to) {
  const std::uint8_t* bytes = super_block + 4 + part % 4;
  unsigned scale = bytes[0] & 63U;
  unsigned min = bytes[4] & 63U;
  if (part >= 4) {
    scale = (bytes[8] & 15U) | unsigned{bytes[0]} >> 6U << 4U;
    min = unsigned{bytes[8]} >> 4U | unsigned{bytes[4]} >> 6U << 4U;
  }
  std::uint16_t bits[2];
  std::memcpy(bits, super_block, sizeof(bits));
  to->scales[0] = to->scales[1] = f16_to_f32(bits[0]) * static_cast<float>(scale);
  to->min = -(f16_to_f32(bits[1]) * static_cast<float>(min));
}

void set_super_min_factors(std::uint32_t random, std::uint8_t* super_block) {
  const auto d = static_cast<std::uint16_t>(random % 0x2400U);
  const auto min = static_cast<std::uint16_t>((random >> 16U) % 0x2C00U);
  std::memcpy(super_block, &d, sizeof(d));
  std::memcpy(super_block + 2, &min, sizeof(min));
}

void put_super_columns(
    const std::uint8_t* super_block, std::int64_t num_bytes, std::int64_t lane, std::uint8_t* to
) {
  for (std::int64_t column = 0; column < num_bytes / 4; ++column) {
    std::memcpy(to + column * 64 + lane * 4, super_block + column * 4, 4);
  }
}

}  // namespace rapt
