#include "quant/cpu_multiply_internal.h"
#include "quant/dense/kernel_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

template <DType kType>
Vec load_16(const void* data, int64_t idx) {
  if constexpr (kType == DType::kF32) {
    return load(static_cast<const float*>(data) + idx);
  } else if constexpr (kType == DType::kBF16) {
    return load_bf16(static_cast<const uint16_t*>(data) + idx);
  } else {
    return load_f16(static_cast<const uint16_t*>(data) + idx);
  }
}

// Fewer than 16 elements, never reading past them.
template <DType kType>
Vec load_first_16(const void* data, int64_t idx, int64_t count) {
  if constexpr (kType == DType::kF32) {
    return load_first(static_cast<const float*>(data) + idx, count);
  } else {
    uint16_t bits[kLanes] = {};
    __builtin_memcpy(
        bits,
        static_cast<const uint16_t*>(data) + idx,
        sizeof(uint16_t) * static_cast<uint64_t>(count)
    );
    return load_16<kType>(bits, 0);
  }
}

#if defined(__AVX512F__)
constexpr int kDirectRows = 4;
#else
constexpr int kDirectRows = 1;  // more sums than registers otherwise
#endif
constexpr int64_t kDirectFeatures = 4;

// Features first to first + 3 of kRows rows of inputs, straight from the weights: reading them
// takes longer than multiplying.
template <DType kType, int kRows>
void multiply_directly(
    const DenseMatrix& matrix, int64_t first, const float* const* x, float (*sums)[kDirectFeatures]
) {
  constexpr int64_t kElement = kType == DType::kF32 ? 4 : 2;
  const int64_t whole = matrix.in_features / kLanes * kLanes;
  const char* weights[kDirectFeatures];
  for (int64_t f = 0; f < kDirectFeatures; ++f) {
    const auto* rows = static_cast<const char*>(matrix.rows[(first + f) % 2]);
    weights[f] = rows + (first + f) / 2 * matrix.row_stride * kElement;
  }
  // From a feature to the one that takes its place in the next call.
  const int64_t ahead = kDirectFeatures / 2 * matrix.row_stride * kElement;
  Vec sum[kDirectFeatures][kRows];
#pragma GCC unroll 4
  for (int f = 0; f < kDirectFeatures; ++f) {
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      sum[f][row] = splat(0.0F);
    }
  }
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    Vec values[kRows];
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      values[row] = load(x[row] + idx);
    }
#pragma GCC unroll 4
    for (int f = 0; f < kDirectFeatures; ++f) {
      __builtin_prefetch(weights[f] + ahead + idx * kElement, 0, 3);
      const Vec weight = load_16<kType>(weights[f], idx);
#pragma GCC unroll 4
      for (int row = 0; row < kRows; ++row) {
        sum[f][row] = fma(weight, values[row], sum[f][row]);
      }
    }
  }
  const int64_t rest = matrix.in_features - whole;
  for (int f = 0; f < kDirectFeatures; ++f) {
    float last[kLanes] = {};
    if (rest > 0) {
      store(last, load_first_16<kType>(weights[f], whole, rest));
    }
    for (int row = 0; row < kRows; ++row) {
      float lanes[kLanes];
      store(lanes, sum[f][row]);
      for (int64_t idx = 0; idx < rest; ++idx) {
        lanes[idx] = __builtin_fmaf(last[idx], x[row][whole + idx], lanes[idx]);
      }
      sums[row][f] = sum_lanes(load(lanes));
    }
  }
}

// The features from `first` on, as many as are whole groups; returns where they end.
template <DType kType, int kRows>
int64_t multiply_few(
    const DenseMatrix& matrix,
    const float* bias,
    int64_t first,
    int64_t end,
    const MultiplyRows& rows
) {
  if constexpr (kRows > 1) {
    if (rows.num_rows < kRows) {
      return multiply_few<kType, kRows - 1>(matrix, bias, first, end, rows);
    }
  }
  const float* x[kRows];
  for (int64_t row = 0; row < kRows; ++row) {
    const int64_t y_row = rows.first_row + row;
    x[row] = rows.x + (rows.input_rows == nullptr ? y_row : rows.input_rows[y_row]) * rows.x_stride;
  }
  for (; first + kDirectFeatures <= end; first += kDirectFeatures) {
    float sums[kRows][kDirectFeatures];
    multiply_directly<kType, kRows>(matrix, first, x, sums);
    for (int64_t row = 0; row < kRows; ++row) {
      float* y = rows.y + (rows.first_row + row) * rows.y_stride + first;
      for (int64_t f = 0; f < kDirectFeatures; ++f) {
        y[f] = bias == nullptr ? sums[row][f] : sums[row][f] + bias[first + f];
      }
    }
  }
  return first;
}

template <DType kType>
void multiply(
    const DenseMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  const auto decode_rows =
      [&](int64_t feature, int64_t num_features, int64_t k, int64_t num_k, float* tile) {
        for (int64_t f = 0; f < num_features; ++f) {
          const void* row = matrix.rows[(feature + f) % 2];
          const int64_t from = (feature + f) / 2 * matrix.row_stride + k;
          float* to = tile + f * kTileDepth;
          int64_t idx = 0;
          for (; idx + kLanes <= num_k; idx += kLanes) {
            store(to + idx, load_16<kType>(row, from + idx));
          }
          if (idx < num_k) {
            store_first(to + idx, load_first_16<kType>(row, from + idx, num_k - idx), num_k - idx);
          }
        }
      };
  const auto decode_columns =
      [&](int64_t feature, int64_t num_features, int64_t k, int64_t num_k, float* tile) {
        for (int64_t idx = 0; idx < num_k; ++idx) {
          float values[kLanes];
          store(
              values,
              load_first_16<kType>(
                  matrix.columns, (k + idx) * matrix.row_stride + feature, num_features
              )
          );
          for (int64_t f = 0; f < num_features; ++f) {
            tile[f * kTileDepth + idx] = values[f];
          }
        }
      };
  if (matrix.columns == nullptr) {
    if (rows.num_rows > 0 && rows.num_rows <= kDirectRows) {
      first_feature =
          multiply_few<kType, kDirectRows>(matrix, bias, first_feature, end_feature, rows);
    }
    cpu_multiply(matrix.in_features, first_feature, end_feature, bias, rows, decode_rows);
  } else {
    cpu_multiply(matrix.in_features, first_feature, end_feature, bias, rows, decode_columns);
  }
}

void multiply_any(
    const DenseMatrix& matrix,
    const float* bias,
    int64_t first_feature,
    int64_t end_feature,
    const MultiplyRows& rows
) {
  switch (matrix.dtype) {
    case DType::kF32:
      return multiply<DType::kF32>(matrix, bias, first_feature, end_feature, rows);
    case DType::kF16:
      return multiply<DType::kF16>(matrix, bias, first_feature, end_feature, rows);
    default:
      return multiply<DType::kBF16>(matrix, bias, first_feature, end_feature, rows);
  }
}

}  // namespace

extern const DenseMultiply kDenseMultiply;
const DenseMultiply kDenseMultiply = multiply_any;

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
