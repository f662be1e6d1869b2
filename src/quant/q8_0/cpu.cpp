#include "quant/block/cpu_bytes_internal.h"
#include "quant/block/cpu_pairs_internal.h"
#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

constexpr int64_t kBlockBytes = 34;

// With byte dots the weights are bytes plus 128, else they stay as they are, to be widened.
[[gnu::always_inline]] inline IVec to_dots(IVec quads) {
  return kHasByteDots ? xor_int(quads, splat_int(static_cast<int32_t>(0x80808080U))) : quads;
}

[[gnu::always_inline]] inline void all_to_dots(IVec* quads) {
#pragma GCC unroll 8
  for (int quad = 0; quad < kBlockQuads; ++quad) {
    quads[quad] = to_dots(quads[quad]);
  }
}

struct Q80Rows {
  static constexpr int kGroup = 2;

  static constexpr int64_t kFetchBytes = kBlockBytes * kLanes;

  // The second scale is 34 bytes behind the first: bytes 2 and 3 of the third 16 bytes.
  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t count, Vec* scales
  ) {
    const uint8_t* p = half.scales + block * kBlockBytes;
    if (count < kGroup) {
      uint16_t bits[kLanes];
      for (int lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
        __builtin_memcpy(&bits[lane_idx], p + lane_idx * half.scales_stride, sizeof(bits[0]));
      }
      scales[0] = load_f16(bits);
      return;
    }
    IVec spread[4];
    load_spread(p, half.scales_stride, spread);
    scales[0] = f16_to_float(spread[0]);
    scales[1] = f16_to_float(shift_right<16>(spread[2]));
  }

  static constexpr int kMostLong = 2;

  [[gnu::always_inline]] static inline void load_long_rows(
      const HalfRows& half, int64_t block, IVec* rows
  ) {
    cpu::RAPT_CPU_LEVEL::load_long_rows(half.codes + block * kBlockBytes, half.codes_stride, rows);
    all_to_dots(rows);
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    const uint8_t* p = half.codes + block * kBlockBytes;
    load_columns(p, half.codes_stride, quads);
    load_columns(p + 16, half.codes_stride, quads + 4);
    all_to_dots(quads);
  }
};

// Half a prepared piece: for each block eight registers as load_columns() gives them; then for each
// block the 16 scales.
struct Q80PreparedRows {
  static constexpr int kGroup = 1;
  static constexpr int64_t kPreparedBytes = 512;

  static constexpr int64_t kFetchBytes = kPreparedBytes + 2 * kLanes;

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t /*count*/, Vec* scales
  ) {
    scales[0] = load_f16(reinterpret_cast<const uint16_t*>(half.scales) + block * kLanes);
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
#pragma GCC unroll 8
    for (int quad = 0; quad < kBlockQuads; ++quad) {
      quads[quad] = to_dots(load_int(half.codes + block * kPreparedBytes + quad * 64));
    }
  }
};

template <bool kBytes>
struct DotsOf {
  using Type = ByteDots<ByteShape{.offset_shift = 7}>;
};

template <>
struct DotsOf<false> {
  using Type = PairDots;
};

struct Format {
  using Rows = Q80Rows;
  using PreparedRows = Q80PreparedRows;
  using Dots = DotsOf<kHasByteDots>::Type;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(piece, half, num_blocks, Q80PreparedRows::kPreparedBytes, 32);
  }
};

}  // namespace

extern const BlockKernels kQ80Kernels;
const BlockKernels kQ80Kernels = {multiply_plainly, multiply_blocks<Format>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
