#pragma once

// How 16 rows of super-blocks are read, which are eight blocks of 32 inputs, stored as one with a
// header in common. Every 16 bytes of a super-block, of 16 rows, are four registers of columns. In
// a prepared piece they lie like that, one after the other, so that it is as large as the rows.

#include "quant/block/cpu_bytes_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

inline constexpr int64_t kSuperParts = 8;

// A block of a tile: eight quads and two factors.
inline constexpr int64_t kSuperTileBytes = (kBlockQuads + 2) * 4 * kLanes;

static inline void store_quad(uint8_t* tile, int64_t part, int64_t quad, IVec bytes) {
  store_int(tile + part * kSuperTileBytes + quad * 4 * kLanes, bytes);
}

static inline void store_factor(uint8_t* tile, int64_t part, int64_t idx, Vec factor) {
  store_quad(tile, part, kBlockQuads + idx, as_int(factor));
}

// Unpacks whole super-blocks into tiles, of few rows as of many. `Rows` has
//   fetch_next(half, super_idx)      what reading a super-block fetches
//   unpack(half, super_idx, tile)    writes eight blocks of the tile
template <ByteShape kShape>
struct SuperDots : ByteDots<kShape> {
  using Bytes = ByteDots<kShape>;
  static constexpr int64_t kSuperBlocks = kSuperParts;

  template <typename Rows>
  static inline void unpack(
      const HalfRows& weights, int64_t first_block, int64_t num_blocks, uint8_t* tile
  ) {
    static_assert(Bytes::kTileBlockBytes == kSuperTileBytes);
    for (int64_t block = 0; block < num_blocks; block += kSuperParts) {
      const int64_t super_idx = (first_block + block) / kSuperParts;
      Rows::fetch_next(weights, super_idx);
      Rows::unpack(weights, super_idx, tile + block * kSuperTileBytes);
    }
  }
};

// Super-blocks of kBytes in the checkpoint's layout.
template <int64_t kBytes>
struct StoredSupers {
  [[gnu::always_inline]] static inline void fetch_next(const HalfRows& half, int64_t super_idx) {
    fetch<(kBytes + 3) / 4>(half.next + super_idx * kBytes * kLanes);
  }

  // Bytes 16 * idx to 16 * idx + 15 of a super-block.
  [[gnu::always_inline]] static inline void load_16(
      const HalfRows& half, int64_t super_idx, int64_t idx, IVec* columns
  ) {
    load_columns(half.codes + super_idx * kBytes + 16 * idx, half.codes_stride, columns);
  }
};

// Those of a prepared piece, without the bytes that are no whole 16.
template <int64_t kBytes>
struct PreparedSupers {
  static constexpr int64_t kPreparedBytes = kBytes / 16 * 16 * kLanes;

  [[gnu::always_inline]] static inline void fetch_next(const HalfRows& half, int64_t super_idx) {
    fetch<kPreparedBytes / 64>(half.next + super_idx * kPreparedBytes);
  }

  [[gnu::always_inline]] static inline void load_16(
      const HalfRows& half, int64_t super_idx, int64_t idx, IVec* columns
  ) {
    const uint8_t* p = half.codes + super_idx * kPreparedBytes + 16 * idx * kLanes;
#pragma GCC unroll 4
    for (int column = 0; column < 4; ++column) {
      columns[column] = load_int(p + column * 4 * kLanes);
    }
  }
};

// Bits move up by kBits, or down by -kBits.
template <int kBits>
[[gnu::always_inline]] static inline IVec move_up(IVec a) {
  if constexpr (kBits > 0) {
    return shift_left<kBits>(a);
  } else if constexpr (kBits < 0) {
    return shift_right<-kBits>(a);
  } else {
    return a;
  }
}

// Byte kByte of each lane, as a number from 0 to 255.
template <int kByte>
[[gnu::always_inline]] static inline Vec byte_to_float(IVec lanes) {
  return to_float(and_int(move_up<-8 * kByte>(lanes), splat_int(255)));
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
