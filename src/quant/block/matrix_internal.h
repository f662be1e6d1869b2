#pragma once

#include <cstdint>

#include "quant/multiply_rows_internal.h"
#include "tensor/stream.h"

namespace rapt {

// A block of 32 weights as numbers: weight idx is codes[idx] * scales[idx / 16] + min.
struct UnpackedBlock {
  std::int8_t codes[32];
  float scales[2];  // the same twice where a block has one
  float min;        // 0 where a format has none
};

// What rows of blocks are made of. Formats may store several blocks of 32 together, as one "stored
// block" with a header in common.
struct BlockLayout {
  std::int64_t codes_bytes = 0;   // from the codes of a stored block to those of the next
  std::int64_t scales_bytes = 0;  // likewise
  std::int64_t num_parts = 1;     // blocks of 32 in a stored block
  std::int64_t num_scales = 1;    // of a block; 2: one for each 16 inputs
  bool has_min = false;
  // Block `part` of a stored block as numbers: the format's definition.
  void (*unpack
  )(const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t part, UnpackedBlock* to
  ) = nullptr;
};

// One matrix of a format whose rows are blocks of 32 inputs. In the checkpoint's layout, rows 2i
// and 2i + 1 may come from two tensors (gate and up), so there are two of each pointer.
struct BlockMatrix {
  BlockLayout layout;
  const std::uint8_t* codes[2] = {};   // the first blocks of row 0 and of row 1
  const std::uint8_t* scales[2] = {};  // their scales
  std::int64_t codes_stride = 0;       // bytes from row i to row i + 2
  std::int64_t scales_stride = 0;
  std::int64_t num_rows = 0;
  std::int64_t num_blocks = 0;  // blocks of 32 in a row

  // The prepared copy, or null: a piece for each 32 rows.
  const std::uint8_t* pieces = nullptr;
  std::int64_t piece_bytes = 0;

  // What is read after the features of a call, or null: `next` from row `next_row` on.
  const BlockMatrix* next = nullptr;
  std::int64_t next_row = 0;
};

// Multiplies an item's rows with features [first_feature, end_feature).
using BlockMultiply = void (*)(
    const BlockMatrix& matrix,
    const float* bias,
    std::int64_t first_feature,
    std::int64_t end_feature,
    const MultiplyRows& rows
);

// A format's kernels on one CPU level.
struct BlockKernels {
  // Any item in any mode, without an activation.
  BlockMultiply plain = nullptr;
  // The same in the integer modes, with the activation, and fast. Null in the reference. Wants a
  // matrix of at least kMinFusedRows rows and items that begin at multiples of 32.
  BlockMultiply fused = nullptr;
};

inline constexpr std::int64_t kMinFusedRows = 32;

// A piece of a prepared copy is 32 rows: its even rows in the 16 lanes of the first half, its odd
// rows in those of the second. A half begins with the codes of all blocks; their scales follow.
inline constexpr std::int64_t kPieceRows = 32;

// The bytes of a half whose codes and scales take `num_bytes`.
constexpr std::int64_t prepared_half_bytes(std::int64_t num_bytes) {
  return (num_bytes + 63) / 64 * 64;
}

}  // namespace rapt
