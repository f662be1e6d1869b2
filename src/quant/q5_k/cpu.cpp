#include "quant/block/cpu_plain_internal.h"
#include "quant/block/cpu_super_mins_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

struct Q5K {
  static constexpr int64_t kBytes = 176;

  [[gnu::always_inline]] static inline void load_factors(
      const uint8_t* columns, const uint8_t* /*tail*/, Vec* factors
  ) {
    load_super_mins(columns, factors);
  }

  [[gnu::always_inline]] static inline void load_quads(
      const uint8_t* columns, int part, IVec* quads
  ) {
    const IVec nibble = splat_int(0x0F0F0F0F);
    const IVec bit = splat_int(0x10101010);
#pragma GCC unroll 8
    for (int quad = 0; quad < kBlockQuads; ++quad) {
      const IVec pairs = load_column(columns, 3 + part / 2 * 2, quad);
      const IVec bits = shift_right_by(load_column(columns, 1, quad), part);
      quads[quad] = or_int(
          and_int(shift_right_by(pairs, part % 2 * 4), nibble), and_int(shift_left<4>(bits), bit)
      );
    }
  }
};

using Format = SuperFormat<Q5K, ByteShape{.has_min = true}>;

}  // namespace

extern const BlockKernels kQ5KKernels;
const BlockKernels kQ5KKernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
