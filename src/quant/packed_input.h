#pragma once

#include <cstdint>

#include "quant/linear_mode.h"
#include "tensor/buffer.h"
#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// Activations, made ready once and shared by all matrices that read them (q, k and v; the experts).
// A view: the rows belong to the caller, the blocks to the workspace they were packed in. Made from
// a tensor alone, it is the f32 mode's form, in which the rows themselves are all there is.
//
// `blocks` holds, for each row, one block per 32 inputs, the last one filled up with zeros:
//
//   byte  0: float  scale        x is about q * scale
//   byte  4: int32  minus_sum    minus the sum of the block's 32 q
//   byte  8: int32  minus_first  minus the sum of the first 16
//   byte 12: float  scaled_sum   scale * float(the sum of the 32), which mins are multiplied by
//   byte 16: int8   low[32]      i8: q = low
//   byte 48: int8   high[32]     i16 only: q = 256 * high + low, where -85 <= high <= 85
//
// q = x * (L / max) rounded to the nearest integer, ties to even, and scale = max / L, where max is
// the largest magnitude of the block and L is 127 (i8) or 21845 (i16). A block whose max is below
// 2^-100 counts as zero: q and scale are 0. A block with a value that is not finite has q = 0 and
// a scale (and a scaled sum) of NaN, which every product with it then is.
struct PackedInput {
  Tensor x;  // [num_rows, in_features] fp32
  LinearMode mode = LinearMode::kF32;
  const std::uint8_t* blocks = nullptr;  // [num_rows, packed_row_bytes]; null in the f32 mode
};

inline constexpr std::int64_t kPackedBlockSize = 32;
inline constexpr std::int64_t kPackedSumOffset = 4;
inline constexpr std::int64_t kPackedFirstSumOffset = 8;
inline constexpr std::int64_t kPackedScaledSumOffset = 12;
inline constexpr std::int64_t kPackedLowOffset = 16;
inline constexpr std::int64_t kPackedHighOffset = 48;
inline constexpr std::int64_t kPackedI8Bytes = 48;  // a block
inline constexpr std::int64_t kPackedI16Bytes = 80;

constexpr std::int64_t packed_block_bytes(LinearMode mode) {
  return mode == LinearMode::kI16 ? kPackedI16Bytes : mode == LinearMode::kI8 ? kPackedI8Bytes : 0;
}

constexpr std::int64_t packed_row_bytes(std::int64_t in_features, LinearMode mode) {
  return (in_features + kPackedBlockSize - 1) / kPackedBlockSize * packed_block_bytes(mode);
}

// Packs `x` for `mode` into memory of `workspace`, which must not be rewound while the result is in
// use. In the f32 mode it takes no memory. With a measuring workspace it takes and does nothing
// else. Layers pack only for methods that say reads_packed().
PackedInput pack_input(
    const Stream& stream,
    Workspace& workspace,
    Tensor x,  // [num_rows, in_features] fp32
    LinearMode mode
);

// Takes from `workspace` what pack_input() would.
void measure_packed_input(
    Workspace& workspace, std::int64_t num_rows, std::int64_t in_features, LinearMode mode
);

}  // namespace rapt
