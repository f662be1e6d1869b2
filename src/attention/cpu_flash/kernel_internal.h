#pragma once

#include <cstdint>

#include "attention/kv_layout.h"

// The work of cpu-flash in pieces, and the one order of its arithmetic, which the plain loops of
// ref.cpp and the fast kernels of cpu.cpp share bit for bit.
//
// Keys are taken in splits of 512 and tiles of 64 at absolute positions; a row skips what it cannot
// see. With log2 e folded into the scale, exp is exp2. For one row (a query head of a token):
//
//   q'  = q * (scale * log2 e), or q * (scale / cap) with a soft cap
//   s_j = the fused multiply-adds of q'_d and k_jd in ascending d, from 0; with a soft cap then
//         (cap * log2 e) * t, t = (1 - e) / (1 + e) with the sign of s_j, e = exp2(-2 log2 e |s_j|)
//   split: (m, l[16], o) starts as (lowest, 0, 0). For each tile with visible keys:
//     m' = max(m, s_j ...); a = exp2(m - m'); l *= a; o *= a; m = m'
//     p_j = exp2(s_j - m); l[j mod 16] += p_j; o = fma(p_j, v_j, o), j ascending
//     at its end the 16 l are joined by the tree of kernels/ref/sums.h
//   merge: (M, L, O) starts as (lowest, 0, 0). For each split whose m is above the lowest,
//   ascending:
//     M' = max(M, m); a = exp2(M - M'); b = exp2(m - M'); L = fma(b, l, L a); O = fma(b, o, O a)
//   end: with a sink, z = sink * log2 e: M' = max(M, z); c = exp2(M - M'); L = fma(L, c, exp2(z -
//   M'))
//     and O *= c; then out = O / L, or 0 where L is 0
//
// A divided row (see Piece) stores (m, l, o) of each split and is merged afterwards in the same
// way.

namespace rapt::flash {

inline constexpr std::int64_t kTile = 64;
inline constexpr std::int64_t kSplit = 512;
inline constexpr std::int64_t kMaxRows = 128;  // of one piece
inline constexpr std::int64_t kMaxHeadDim = 256;
inline constexpr std::int64_t kMaxRatio = 16;  // query heads of a KV head
inline constexpr float kLowest = -3.40282347e+38F;
inline constexpr float kLog2e = 1.44269504F;

// Coefficients of exp2(f) = 1 + f (c0 + f (c1 + ...)) for |f| <= 1/2, relative error 1.7e-7 in
// fp32. Least maximum error among those that give exactly 1 at 0.
inline constexpr float kExp2[5] = {
    0x1.62e42ap-1F, 0x1.ebf9bcp-3F, 0x1.c6b752p-5F, 0x1.3cea88p-7F, 0x1.5bba14p-10F};

// Floats of scratch that a worker needs: the largest piece in its largest shape.
inline constexpr std::int64_t kRowsPadded = kMaxRows + 16;
inline constexpr std::int64_t kScratchFloats =
    kMaxRows * kMaxHeadDim * 3 + 2 * kTile * kMaxHeadDim + 32 * kTile + kRowsPadded * (16 + 6);

// Some rows of one sequence against some splits of its keys, in one KV head. Row r is query head
// r % ratio (counted from the KV head's first) of token r / ratio.
struct Piece {
  const float* q = nullptr;       // of the first token, at the KV head's first query head
  float* out = nullptr;           // the same place
  std::int64_t token_stride = 0;  // floats from a token to the next, in q and out
  std::int64_t num_tokens = 0;    // num_tokens * ratio <= kMaxRows
  std::int64_t ratio = 1;
  std::int64_t first_position = 0;  // of the first token
  std::int64_t window = 0;
  float scale = 1.0F;
  float soft_cap = 0.0F;
  const float* sinks = nullptr;  // [ratio], or null
  const KVLayerView* layer = nullptr;
  std::int64_t kv_head = 0;
  std::int64_t head_stride = 0;  // of the layer
  std::int64_t block_stride = 0;
  const std::int32_t* block_table = nullptr;
  std::int64_t first_split = 0;  // splits [first_split, end_split) are computed
  std::int64_t end_split = 0;
  // Null: these are all splits that the rows see, and `out` is written. Else one slot a split, the
  // first for first_split: m [rows], l [rows], o [rows, head_dim].
  float* partials = nullptr;
  float* scratch = nullptr;  // [kScratchFloats]
};

static inline std::int64_t partial_floats(std::int64_t num_rows, std::int64_t head_dim) {
  return num_rows * (head_dim + 2);
}

// The first key that a token at `position` sees.
static inline std::int64_t first_visible(std::int64_t position, std::int64_t window) {
  return window > 0 && position >= window ? position - window + 1 : 0;
}

struct Kernels {
  void (*attend)(const Piece& piece) = nullptr;
  // Joins the partials of all splits and writes `out`.
  void (*merge)(const Piece& piece) = nullptr;
};

// The plain loops.
extern const Kernels kRefKernels;

}  // namespace rapt::flash
