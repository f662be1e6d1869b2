#pragma once

// The multiply of a linear layer over 16 lanes, for files that are compiled once a CPU level (see
// kernels/cpu/vec.h for what such files may use). A format brings the decoder.

#include "kernels/cpu/vec.h"
#include "quant/multiply_rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

inline constexpr int64_t kTileDepth = 256;   // inputs decoded at once: four rows fill 4 KiB
inline constexpr int64_t kTileFeatures = 4;  // output features that share one load of the input
inline constexpr int64_t kTileRows = 64;  // rows whose partial sums are kept while depth advances
#if defined(__AVX512F__)
inline constexpr int kTileRowsAtOnce = 4;  // with as many sums in registers as there is room for
#else
inline constexpr int kTileRowsAtOnce = 1;
#endif

// sums[row][feature][lane] += tile . x for kRows rows; `whole` is num_k without its last odd part.
template <int kRows>
static inline void multiply_tile_rows(
    const float* tile, const float* const* x, int64_t whole, int64_t num_k, float* sums
) {
  Vec sum[kRows][kTileFeatures];
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int f = 0; f < kTileFeatures; ++f) {
      sum[row][f] = load(sums + (row * kTileFeatures + f) * kLanes);
    }
  }
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    Vec values[kRows];
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      values[row] = load(x[row] + idx);
    }
#pragma GCC unroll 4
    for (int f = 0; f < kTileFeatures; ++f) {
      const Vec weights = load(tile + f * kTileDepth + idx);
#pragma GCC unroll 4
      for (int row = 0; row < kRows; ++row) {
        sum[row][f] = fma(weights, values[row], sum[row][f]);
      }
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int f = 0; f < kTileFeatures; ++f) {
      float* lanes = sums + (row * kTileFeatures + f) * kLanes;
      store(lanes, sum[row][f]);
      for (int64_t idx = whole; idx < num_k; ++idx) {
        float* lane = lanes + (idx - whole);
        *lane = __builtin_fmaf(tile[f * kTileDepth + idx], x[row][idx], *lane);
      }
    }
  }
}

// num_rows rows, kRows at a time.
template <int kRows>
static inline void multiply_tile_rows(
    const float* tile,
    const float* const* x,
    int64_t num_rows,
    int64_t whole,
    int64_t num_k,
    float* sums
) {
  for (; num_rows >= kRows; num_rows -= kRows) {
    multiply_tile_rows<kRows>(tile, x, whole, num_k, sums);
    x += kRows;
    sums += kRows * kTileFeatures * kLanes;
  }
  if constexpr (kRows > 1) {
    if (num_rows > 0) {
      multiply_tile_rows<kRows - 1>(tile, x, num_rows, whole, num_k, sums);
    }
  }
}

// decode(first_feature, num_features, first_k, num_k, tile): writes the fp32 values of a piece of
// the matrix, tile[f * kTileDepth + k]. first_k is a multiple of kTileDepth.
template <typename Decode>
static inline void cpu_multiply(
    int64_t in_features,
    int64_t first_feature,
    int64_t end_feature,
    const float* bias,
    const MultiplyRows& rows,
    const Decode& decode
) {
  alignas(64) float tile[kTileFeatures * kTileDepth];
  alignas(64) float sums[kTileRows * kTileFeatures * kLanes];
  for (int64_t row = 0; row < rows.num_rows; row += kTileRows) {
    const int64_t num_rows = rows.num_rows - row < kTileRows ? rows.num_rows - row : kTileRows;
    for (int64_t feature = first_feature; feature < end_feature; feature += kTileFeatures) {
      const int64_t num_features =
          end_feature - feature < kTileFeatures ? end_feature - feature : kTileFeatures;
      if (num_features < kTileFeatures) {
        __builtin_memset(tile, 0, sizeof(tile));
      }
      __builtin_memset(sums, 0, sizeof(float) * num_rows * kTileFeatures * kLanes);
      for (int64_t k = 0; k < in_features; k += kTileDepth) {
        const int64_t num_k = in_features - k < kTileDepth ? in_features - k : kTileDepth;
        const int64_t whole = num_k / kLanes * kLanes;
        decode(feature, num_features, k, num_k, tile);
        const float* x[kTileRows];
        for (int64_t r = 0; r < num_rows; ++r) {
          const int64_t y_row = rows.first_row + row + r;
          const int64_t x_row = rows.input_rows == nullptr ? y_row : rows.input_rows[y_row];
          x[r] = rows.x + x_row * rows.x_stride + k;
        }
        multiply_tile_rows<kTileRowsAtOnce>(tile, x, num_rows, whole, num_k, sums);
      }
      for (int64_t r = 0; r < num_rows; ++r) {
        float* y = rows.y + (rows.first_row + row + r) * rows.y_stride;
        for (int64_t f = 0; f < num_features; ++f) {
          const float sum = sum_lanes(load(sums + (r * kTileFeatures + f) * kLanes));
          y[feature + f] = bias == nullptr ? sum : sum + bias[feature + f];
        }
      }
    }
  }
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
