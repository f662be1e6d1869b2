#include "quant/block/cpu_plain_internal.h"
#include "quant/block/cpu_super_rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

struct Q6K {
  static constexpr int64_t kBytes = 210;

  // The scales of two parts, in the bytes of each lane, times d.
  [[gnu::always_inline]] static inline void put_four(IVec bytes, Vec d, Vec* to) {
    const IVec raised = xor_int(bytes, splat_int(static_cast<int32_t>(0x80808080U)));
    const Vec rise = splat(128.0F);
    to[0] = mul(sub(byte_to_float<0>(raised), rise), d);
    to[1] = mul(sub(byte_to_float<1>(raised), rise), d);
    to[2] = mul(sub(byte_to_float<2>(raised), rise), d);
    to[3] = mul(sub(byte_to_float<3>(raised), rise), d);
  }

  [[gnu::always_inline]] static inline void load_factors(
      const uint8_t* columns, const uint8_t* tail, Vec* factors
  ) {
    const Vec d = load_f16(reinterpret_cast<const uint16_t*>(tail));
#pragma GCC unroll 4
    for (int idx = 0; idx < 4; ++idx) {
      put_four(load_column(columns, 12, idx), d, factors + 4 * idx);
    }
  }

  [[gnu::always_inline]] static inline void load_quads(
      const uint8_t* columns, int part, IVec* quads
  ) {
    const IVec nibble = splat_int(0x0F0F0F0F);
    const IVec two_bits = splat_int(0x30303030);
    const int half = part / 4;
    const int quarter = part % 4;
#pragma GCC unroll 8
    for (int quad = 0; quad < kBlockQuads; ++quad) {
      const IVec pairs = load_column(columns, 4 * half + quarter % 2 * 2, quad);
      const IVec bits = shift_right_by(load_column(columns, 8 + 2 * half, quad), 2 * quarter);
      quads[quad] = or_int(
          and_int(shift_right_by(pairs, quarter / 2 * 4), nibble),
          and_int(shift_left<4>(bits), two_bits)
      );
    }
  }
};

using Format = SuperFormat<Q6K, ByteShape{.offset_shift = 5, .num_scales = 2, .quads_a_sum = 2}>;

}  // namespace

extern const BlockKernels kQ6KKernels;
const BlockKernels kQ6KKernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
