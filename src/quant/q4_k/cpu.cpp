#include "quant/block/cpu_plain_internal.h"
#include "quant/block/cpu_super_mins_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

constexpr int64_t kSuperBytes = 144;

template <typename Source>
struct Q4KRows : Source {
  [[gnu::always_inline]] static inline void unpack(
      const HalfRows& half, int64_t super_idx, uint8_t* tile
  ) {
    IVec header[4];
    Source::load_16(half, super_idx, 0, header);
    unpack_super_mins(header, tile);
    const IVec nibble = splat_int(0x0F0F0F0F);
    // 16 inputs of two parts.
    for (int64_t idx = 0; idx < 8; ++idx) {
      const int64_t part = idx / 2 * 2;
      IVec columns[4];
      Source::load_16(half, super_idx, 1 + idx, columns);
#pragma GCC unroll 4
      for (int64_t column = 0; column < 4; ++column) {
        const int64_t quad = idx % 2 * 4 + column;
        store_quad(tile, part, quad, and_int(columns[column], nibble));
        store_quad(tile, part + 1, quad, and_int(shift_right<4>(columns[column]), nibble));
      }
    }
  }
};

struct Format {
  using Rows = Q4KRows<StoredSupers<kSuperBytes>>;
  using PreparedRows = Q4KRows<PreparedSupers<kSuperBytes>>;
  using Dots = SuperDots<ByteShape{.has_min = true}>;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(
        piece, half, num_blocks / kSuperParts, PreparedRows::kPreparedBytes, 0
    );
  }
};

}  // namespace

extern const BlockKernels kQ4KKernels;
const BlockKernels kQ4KKernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
