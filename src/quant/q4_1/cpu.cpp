#include "quant/block/cpu_bytes_internal.h"
#include "quant/block/cpu_nibbles_internal.h"
#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

constexpr int64_t kBlockBytes = 20;

struct Q41Rows {
  static constexpr int kGroup = 1;

  [[gnu::always_inline]] static inline void fetch_next(const HalfRows& half, int64_t block) {
    fetch<5>(half.next + block * kBlockBytes * kLanes);
  }

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t /*count*/, Vec* factors
  ) {
    split_scale_and_min(load_words(half.scales + block * kBlockBytes, half.scales_stride), factors);
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    IVec columns[4];
    load_columns(half.codes + block * kBlockBytes, half.codes_stride, columns);
    split_nibbles(columns, quads);
  }
};

// Half a prepared piece: for each block four registers of nibbles as load_columns() gives them;
// then for each block 16 times scale and min.
struct Q41PreparedRows {
  static constexpr int kGroup = 1;
  static constexpr int64_t kCodesBytes = 256;
  static constexpr int64_t kScalesBytes = 64;

  [[gnu::always_inline]] static inline void fetch_next(const HalfRows& half, int64_t block) {
    fetch<5>(half.next + block * (kCodesBytes + kScalesBytes));
  }

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t /*count*/, Vec* factors
  ) {
    split_scale_and_min(load_int(half.scales + block * kScalesBytes), factors);
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    IVec columns[4];
    load_prepared_columns(half.codes + block * kCodesBytes, columns);
    split_nibbles(columns, quads);
  }
};

struct Format {
  using Rows = Q41Rows;
  using PreparedRows = Q41PreparedRows;
  using Dots = ByteDots<ByteShape{.has_min = true}>;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(
        piece, half, num_blocks, Q41PreparedRows::kCodesBytes, Q41PreparedRows::kScalesBytes
    );
  }
};

}  // namespace

extern const BlockKernels kQ41Kernels;
const BlockKernels kQ41Kernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
