#include "quant/block/cpu_plain_internal.h"
#include "quant/block/cpu_super_rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

constexpr int64_t kSuperBytes = 210;

// The 16 rows' d, which is the last two bytes of their super-blocks.
struct StoredFactors : StoredSupers<kSuperBytes> {
  [[gnu::always_inline]] static inline Vec load_factor(const HalfRows& half, int64_t super_idx) {
    IVec columns[4];
    const uint8_t* last = half.codes + super_idx * kSuperBytes + kSuperBytes - 16;
    load_columns(last, half.codes_stride, columns);
    return f16_to_float(shift_right<16>(columns[3]));
  }
};

struct PreparedFactors : PreparedSupers<kSuperBytes> {
  static constexpr int64_t kFactorBytes = 2 * kLanes;

  [[gnu::always_inline]] static inline Vec load_factor(const HalfRows& half, int64_t super_idx) {
    return load_f16(reinterpret_cast<const uint16_t*>(half.scales + super_idx * kFactorBytes));
  }
};

template <typename Source>
struct Q6KRows : Source {
  // The scales of two parts, in the bytes of each lane, times d.
  [[gnu::always_inline]] static inline void unpack_scales(
      IVec bytes, Vec d, int64_t part, uint8_t* tile
  ) {
    const IVec raised = xor_int(bytes, splat_int(static_cast<int32_t>(0x80808080U)));
    const Vec rise = splat(128.0F);
    store_factor(tile, part, 0, mul(sub(byte_to_float<0>(raised), rise), d));
    store_factor(tile, part, 1, mul(sub(byte_to_float<1>(raised), rise), d));
    store_factor(tile, part + 1, 0, mul(sub(byte_to_float<2>(raised), rise), d));
    store_factor(tile, part + 1, 1, mul(sub(byte_to_float<3>(raised), rise), d));
  }

  [[gnu::always_inline]] static inline void unpack(
      const HalfRows& half, int64_t super_idx, uint8_t* tile
  ) {
    const Vec d = Source::load_factor(half, super_idx);
    IVec scales[4];
    Source::load_16(half, super_idx, 12, scales);
#pragma GCC unroll 4
    for (int64_t idx = 0; idx < 4; ++idx) {
      unpack_scales(scales[idx], d, 2 * idx, tile);
    }
    const IVec nibble = splat_int(0x0F0F0F0F);
    const IVec two_bits = splat_int(0x30303030);
    // 16 inputs of four parts.
    for (int64_t idx = 0; idx < 4; ++idx) {
      const int64_t part = idx / 2 * 4;
      IVec low[4];
      IVec next_low[4];
      IVec high[4];
      Source::load_16(half, super_idx, part + idx % 2, low);
      Source::load_16(half, super_idx, part + idx % 2 + 2, next_low);
      Source::load_16(half, super_idx, 8 + idx, high);
#pragma GCC unroll 4
      for (int64_t column = 0; column < 4; ++column) {
        const int64_t quad = idx % 2 * 4 + column;
        const IVec bits = high[column];
        const auto store = [&](int64_t to, IVec low_bits, IVec high_bits) {
          const IVec codes = or_int(and_int(low_bits, nibble), and_int(high_bits, two_bits));
          store_quad(tile, to, quad, codes);
        };
        store(part, low[column], shift_left<4>(bits));
        store(part + 1, next_low[column], shift_left<2>(bits));
        store(part + 2, shift_right<4>(low[column]), bits);
        store(part + 3, shift_right<4>(next_low[column]), shift_right<2>(bits));
      }
    }
  }
};

struct Format {
  using Rows = Q6KRows<StoredFactors>;
  using PreparedRows = Q6KRows<PreparedFactors>;
  using Dots = SuperDots<ByteShape{.offset_shift = 5, .num_scales = 2, .quads_a_sum = 2}>;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(
        piece,
        half,
        num_blocks / kSuperParts,
        PreparedFactors::kPreparedBytes,
        PreparedFactors::kFactorBytes
    );
  }
};

}  // namespace

extern const BlockKernels kQ6KKernels;
const BlockKernels kQ6KKernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
