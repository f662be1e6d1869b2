#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// Activations, made ready once and shared by all matrices that read them (q, k and v; the experts).
// Not an owner. In the f32 linear mode the rows themselves are all there is.
struct PackedInput {
  Tensor x;  // [num_rows, in_features] fp32
};

// Output rows [first, first + count) go through matrix number `matrix`.
struct RowGroup {
  std::int32_t matrix = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
};

// One linear layer in one weight format: a matrix, or a stack of them (the experts of a layer),
// each with an optional bias. Immutable after loading; views the checkpoint's mapping, which must
// outlive it. Every output element is one chain of 16 partial sums over the input
// (docs/NUMERICS.md), so a row's result depends on no other row, on no split of the work and on no
// CPU level.
class LinearMethod {
 public:
  virtual ~LinearMethod() = default;

  virtual std::string_view format() const = 0;  // "bf16", "mxfp4", ...
  virtual std::int64_t in_features() const = 0;
  virtual std::int64_t out_features() const = 0;
  virtual std::int64_t num_matrices() const = 0;
  virtual std::int64_t num_bytes() const = 0;  // weights and biases, as stored

  // For each group and each row i of it: y[i] = W[matrix] input.x[input_rows[i]] + b[matrix].
  // `input_rows` empty means input_rows[i] = i. The groups name disjoint rows of y.
  virtual void multiply(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,  // [y rows] or empty
      std::span<const RowGroup> groups,
      Tensor y  // [num_rows, out_features] fp32
  ) const = 0;
};

}  // namespace rapt
