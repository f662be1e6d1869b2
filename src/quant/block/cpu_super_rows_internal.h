#pragma once

// How 16 rows of super-blocks are read, which are eight blocks of 32 inputs, stored as one with a
// header in common. Every 16 bytes of a super-block, of 16 rows, are four registers of columns; a
// prepared piece holds them one after the other, and so is as large as the rows. What is no whole
// 16 bytes, the tail, is kept behind them.

#include "quant/block/cpu_bytes_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

inline constexpr int kSuperParts = 8;

// `Super` says what a format's super-blocks are made of:
//   kBytes                                   in the file
//   load_factors(columns, tail, factors)     two for each part
//   load_quads(columns, part, quads)
template <typename Super>
constexpr int64_t super_column_bytes() {
  return Super::kBytes / 16 * 16 * kLanes;
}

template <typename Super>
constexpr int64_t super_tail_bytes() {
  return Super::kBytes % 16 * kLanes;
}

// Half a prepared piece: the columns of all super-blocks, then their tails.
template <typename Super>
struct PreparedSuperRows {
  static constexpr int kGroup = kSuperParts;
  static constexpr int64_t kColumnBytes = super_column_bytes<Super>();
  static constexpr int64_t kFetchBytes = kColumnBytes / kSuperParts;

  [[gnu::always_inline]] static inline void load_scales(
      const HalfRows& half, int64_t block, int64_t /*count*/, Vec* factors
  ) {
    const int64_t super_idx = block / kSuperParts;
    Super::load_factors(
        half.codes + super_idx * kColumnBytes,
        half.scales + super_idx * super_tail_bytes<Super>(),
        factors
    );
  }

  [[gnu::always_inline]] static inline void load_quads(
      const HalfRows& half, int64_t block, IVec* quads
  ) {
    Super::load_quads(
        half.codes + block / kSuperParts * kColumnBytes,
        static_cast<int>(block % kSuperParts),
        quads
    );
  }
};

// The layout of the file.
template <typename Super>
struct StoredSuperRows : PreparedSuperRows<Super> {
  static constexpr int64_t kColumnBytes = super_column_bytes<Super>();
  static constexpr int64_t kFetchBytes = Super::kBytes * kLanes / kSuperParts;
  static constexpr int64_t kTurnedBytes = kColumnBytes + super_tail_bytes<Super>();

  // Makes of a super-block what a prepared piece holds.
  [[gnu::always_inline]] static inline HalfRows turn(
      const HalfRows& half, int64_t block, uint8_t* to
  ) {
    const uint8_t* from = half.codes + block / kSuperParts * Super::kBytes;
    for (int64_t idx = 0; idx < Super::kBytes / 16; ++idx) {
      IVec columns[4];
      load_columns(from + 16 * idx, half.codes_stride, columns);
#pragma GCC unroll 4
      for (int64_t column = 0; column < 4; ++column) {
        store_int(to + (16 * idx + 4 * column) * kLanes, columns[column]);
      }
    }
    constexpr int64_t kTail = Super::kBytes % 16;
    if constexpr (kTail > 0) {
      for (int64_t lane_idx = 0; lane_idx < kLanes; ++lane_idx) {
        __builtin_memcpy(
            to + kColumnBytes + lane_idx * kTail,
            from + Super::kBytes - kTail + lane_idx * half.codes_stride,
            kTail
        );
      }
    }
    return {to, to + kColumnBytes, 0, 0};
  }
};

template <typename Super, ByteShape kShape>
struct SuperFormat {
  using Rows = StoredSuperRows<Super>;
  using PreparedRows = PreparedSuperRows<Super>;
  using Dots = ByteDots<kShape>;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(
        piece,
        half,
        num_blocks / kSuperParts,
        super_column_bytes<Super>(),
        super_tail_bytes<Super>()
    );
  }
};

// Column `column`, of which there are more than four if more bytes follow, of those from 16 * idx
// on.
[[gnu::always_inline]] static inline IVec load_column(
    const uint8_t* columns, int64_t idx, int64_t column
) {
  return load_int(columns + (16 * idx + 4 * column) * kLanes);
}

// Byte kByte of each lane, as a number from 0 to 255.
template <int kByte>
[[gnu::always_inline]] static inline Vec byte_to_float(IVec lanes) {
  if constexpr (kByte == 0) {
    return to_float(and_int(lanes, splat_int(255)));
  } else {
    return to_float(and_int(shift_right<8 * kByte>(lanes), splat_int(255)));
  }
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
