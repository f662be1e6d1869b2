#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/activation.h"
#include "quant/packed_input.h"
#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// Changes when the bytes of a prepared copy do, for any format.
inline constexpr int kPreparedFormat = 1;

// Output rows [first, first + count) go through matrix number `matrix`.
struct RowGroup {
  std::int32_t matrix = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
};

// One linear layer in one weight format: a matrix, or a stack of them (the experts of a layer),
// each with an optional bias. Immutable after loading but for use_prepared(); views the
// checkpoint's mapping, which must outlive it. How an element of the result is added up is fixed
// by docs/NUMERICS.md, so a row's result depends on no other row, on no split of the work, on no
// CPU level, and not on where the weights lie. Engine thread.
class LinearMethod {
 public:
  virtual ~LinearMethod() = default;

  virtual std::string_view format() const = 0;  // "bf16", "mxfp4", ...
  virtual std::int64_t in_features() const = 0;
  virtual std::int64_t out_features() const = 0;
  virtual std::int64_t num_matrices() const = 0;
  virtual std::int64_t num_bytes() const = 0;  // weights and biases, as stored

  // Whether the input must have been packed for the linear mode; if not, only input.x is read.
  virtual bool reads_packed() const = 0;

  // Whether the integers of weights are so small that sums of byte products fit 16 bits: which peak
  // a multiply is measured against.
  virtual bool has_small_bytes() const { return false; }

  // For each group and each row i of it: y[i] = W[matrix] input.x[input_rows[i]] + b[matrix].
  // `input_rows` empty means input_rows[i] = i. The groups name disjoint rows of y.
  virtual void multiply(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,  // [y rows] or empty
      std::span<const RowGroup> groups,
      Tensor y  // [num_rows, out_features] fp32
  ) const = 0;

  // multiply() and then clamped_swiglu(), with the bits of these two, in one pass. Output features
  // alternate between gate and up.
  virtual void multiply_swiglu(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,  // [y rows] or empty
      std::span<const RowGroup> groups,
      ClampedSwiglu activation,
      Tensor y  // [num_rows, out_features / 2] fp32
  ) const = 0;

  // A prepared copy holds the same weights in the order in which the kernels read them fastest. It
  // is made of pieces of one size, which any threads may write at any time, in any order.

  // The checkpoint's bytes that are not read while a prepared copy is used.
  virtual std::vector<std::span<const std::byte>> stored_bytes() const { return {}; }

  // Pieces of the prepared copy; 0: this format gains nothing from one.
  virtual std::int64_t num_prepared_pieces() const { return 0; }

  // A multiple of 64.
  virtual std::int64_t prepared_piece_bytes() const { return 0; }

  // Writes piece `piece_idx` to `to`, prepared_piece_bytes() long.
  virtual void write_prepared(std::int64_t /*piece_idx*/, std::byte* /*to*/) const {}

  // From now on multiplies with the prepared copy at `pieces`, all pieces one after the other,
  // aligned to 64 bytes and left alone as long as it is used; nullptr: with the checkpoint's own.
  // Changes no bit. Only between two multiplies.
  virtual void use_prepared(const std::byte* /*pieces*/) {}
};

}  // namespace rapt
