#include "quant/block/cpu_plain_internal.h"
#include "quant/block/cpu_super_mins_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

struct Q4K {
  static constexpr int64_t kBytes = 144;

  [[gnu::always_inline]] static inline void load_factors(
      const uint8_t* columns, const uint8_t* /*tail*/, Vec* factors
  ) {
    load_super_mins(columns, factors);
  }

  [[gnu::always_inline]] static inline void load_quads(
      const uint8_t* columns, int part, IVec* quads
  ) {
    const IVec nibble = splat_int(0x0F0F0F0F);
#pragma GCC unroll 8
    for (int quad = 0; quad < kBlockQuads; ++quad) {
      const IVec pairs = load_column(columns, 1 + part / 2 * 2, quad);
      quads[quad] = and_int(shift_right_by(pairs, part % 2 * 4), nibble);
    }
  }
};

using Format = SuperFormat<Q4K, ByteShape{.has_min = true}>;

}  // namespace

extern const BlockKernels kQ4KKernels;
const BlockKernels kQ4KKernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
