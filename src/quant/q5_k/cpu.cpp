#include "quant/block/cpu_plain_internal.h"
#include "quant/block/cpu_super_mins_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

constexpr int64_t kSuperBytes = 176;

template <typename Source>
struct Q5KRows : Source {
  // Parts kPart and kPart + 1, whose highest bits are bits kPart and kPart + 1 of `high`.
  template <int kPart>
  [[gnu::always_inline]] static inline void unpack_pair(
      const HalfRows& half, int64_t super_idx, const IVec* high, uint8_t* tile
  ) {
    const IVec nibble = splat_int(0x0F0F0F0F);
    const IVec bit = splat_int(0x10101010);
    IVec columns[kBlockQuads];
    Source::load_16(half, super_idx, 3 + kPart, columns);
    Source::load_16(half, super_idx, 4 + kPart, columns + 4);
#pragma GCC unroll 8
    for (int64_t quad = 0; quad < kBlockQuads; ++quad) {
      const IVec low = and_int(columns[quad], nibble);
      const IVec next_low = and_int(shift_right<4>(columns[quad]), nibble);
      store_quad(tile, kPart, quad, or_int(low, and_int(move_up<4 - kPart>(high[quad]), bit)));
      store_quad(
          tile, kPart + 1, quad, or_int(next_low, and_int(move_up<3 - kPart>(high[quad]), bit))
      );
    }
  }

  [[gnu::always_inline]] static inline void unpack(
      const HalfRows& half, int64_t super_idx, uint8_t* tile
  ) {
    IVec header[4];
    Source::load_16(half, super_idx, 0, header);
    unpack_super_mins(header, tile);
    IVec high[kBlockQuads];
    Source::load_16(half, super_idx, 1, high);
    Source::load_16(half, super_idx, 2, high + 4);
    unpack_pair<0>(half, super_idx, high, tile);
    unpack_pair<2>(half, super_idx, high, tile);
    unpack_pair<4>(half, super_idx, high, tile);
    unpack_pair<6>(half, super_idx, high, tile);
  }
};

struct Format {
  using Rows = Q5KRows<StoredSupers<kSuperBytes>>;
  using PreparedRows = Q5KRows<PreparedSupers<kSuperBytes>>;
  using Dots = SuperDots<ByteShape{.has_min = true}>;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(
        piece, half, num_blocks / kSuperParts, PreparedRows::kPreparedBytes, 0
    );
  }
};

}  // namespace

extern const BlockKernels kQ5KKernels;
const BlockKernels kQ5KKernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
