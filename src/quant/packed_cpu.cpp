// Packing over 16 lanes; pack_block() in packed_input.cpp defines it.

#include "kernels/cpu/ivec.h"
#include "quant/packed_kernel_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

template <bool kIsI16>
void pack_block(const float* x, uint8_t* to) {
  const Vec first = load(x);
  const Vec second = load(x + kLanes);
  const IVec magnitude = splat_int(0x7FFFFFFF);
  const uint32_t max_bits = max_of_lanes(
      max_unsigned(and_int(as_int(first), magnitude), and_int(as_int(second), magnitude))
  );
  float max;
  __builtin_memcpy(&max, &max_bits, sizeof(max));
  constexpr float kLimit = kIsI16 ? 21845.0F : 127.0F;
  float factor = 0.0F;
  float scale = 0.0F;
  if (max_bits >= 0x7F800000U) {
    scale = __builtin_nanf("");
  } else if (max >= 0x1p-100F) {
    factor = kLimit / max;
    scale = max / kLimit;
  }
  IVec q[2] = {splat_int(0), splat_int(0)};
  if (factor != 0.0F) {
    q[0] = round_to_int(mul(first, splat(factor)));
    q[1] = round_to_int(mul(second, splat(factor)));
  }
  int32_t sums[2];
  sums_of_lanes(q[0], q[1], sums);
  const int32_t minus_first = -sums[0];
  const int32_t minus_sum = minus_first - sums[1];
  const float scaled_sum = scale * static_cast<float>(-minus_sum);
  __builtin_memcpy(to, &scale, sizeof(scale));
  __builtin_memcpy(to + kPackedSumOffset, &minus_sum, sizeof(minus_sum));
  __builtin_memcpy(to + kPackedScaledSumOffset, &scaled_sum, sizeof(scaled_sum));
  __builtin_memcpy(to + kPackedFirstSumOffset, &minus_first, sizeof(minus_first));
  store_bytes(to + kPackedLowOffset, q[0]);
  store_bytes(to + kPackedLowOffset + kLanes, q[1]);
  if constexpr (kIsI16) {
    // The low byte of q, taken as signed, is q minus 256 times the high one.
    const IVec half = splat_int(128);
    store_bytes(to + kPackedHighOffset, shift_right<8>(add_int(q[0], half)));
    store_bytes(to + kPackedHighOffset + kLanes, shift_right<8>(add_int(q[1], half)));
  }
}

template <bool kIsI16>
void pack_blocks(const float* x, int64_t size, uint8_t* to) {
  constexpr int64_t kBlockBytes = kIsI16 ? kPackedI16Bytes : kPackedI8Bytes;
  int64_t first = 0;
  for (; first + kPackedBlockSize <= size; first += kPackedBlockSize) {
    pack_block<kIsI16>(x + first, to);
    to += kBlockBytes;
  }
  if (first < size) {
    float padded[kPackedBlockSize] = {};
    __builtin_memcpy(padded, x + first, sizeof(float) * static_cast<uint64_t>(size - first));
    pack_block<kIsI16>(padded, to);
  }
}

void pack_row(const float* x, int64_t size, LinearMode mode, uint8_t* to) {
  if (mode == LinearMode::kI16) {
    pack_blocks<true>(x, size, to);
  } else {
    pack_blocks<false>(x, size, to);
  }
}

}  // namespace

extern const PackRow kPackRow;
const PackRow kPackRow = pack_row;

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
