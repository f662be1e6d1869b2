#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "quant/block/format_internal.h"
#include "quant/linear_method.h"
#include "quant/multiply_items_internal.h"
#include "quant/weight_format.h"

namespace rapt {

// Where the weights of a block-format layer lie: one tensor, or two whose rows alternate.
struct BlockTensors {
  struct Part {
    const std::uint8_t* data = nullptr;
    std::int64_t row_bytes = 0;
    std::int64_t matrix_bytes = 0;
  };

  Part codes[2];   // [1].data null: there is one tensor
  Part scales[2];  // into the same memory, where the scales lie within the blocks
};

// A linear layer whose weights are blocks of 32 inputs.
class BlockLinear : public LinearMethod {
 public:
  BlockLinear(
      const BlockFormat& format,
      const BlockTensors& tensors,
      std::vector<float> bias,
      const LinearSpec& spec
  );

  std::string_view format() const override { return format_.name; }

  std::int64_t in_features() const override { return in_features_; }

  std::int64_t out_features() const override { return out_features_; }

  std::int64_t num_matrices() const override { return num_matrices_; }

  std::int64_t num_bytes() const override;

  bool reads_packed() const override { return true; }

  bool has_small_bytes() const override { return format_.max_byte <= 31; }

  void multiply(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,
      std::span<const RowGroup> groups,
      Tensor y
  ) const override;

  void multiply_swiglu(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,
      std::span<const RowGroup> groups,
      ClampedSwiglu activation,
      Tensor y
  ) const override;

  std::vector<std::span<const std::byte>> stored_bytes() const override;
  std::int64_t num_prepared_pieces() const override;
  std::int64_t prepared_piece_bytes() const override;
  void write_prepared(std::int64_t piece_idx, std::byte* to) const override;

  void use_prepared(const std::byte* pieces) override {
    pieces_ = reinterpret_cast<const std::uint8_t*>(pieces);
  }

 private:
  void run(const MultiplyCall& call) const;
  BlockMatrix matrix(std::int64_t matrix_idx) const;
  std::int64_t pieces_per_matrix() const;

  BlockFormat format_;
  BlockTensors tensors_;
  std::vector<float> bias_;  // [num_matrices, out_features] or empty
  std::int64_t in_features_;
  std::int64_t out_features_;
  std::int64_t num_matrices_;
  const std::uint8_t* pieces_ = nullptr;  // the prepared copy
};

// The tensors `spec.dense` and, if named, `spec.second`, stored in blocks of `format` as in GGUF
// files.
Result<std::unique_ptr<LinearMethod>> load_blocks(
    WeightLoader& loader, const LinearSpec& spec, const BlockFormat& format
);

// An error unless the rows of tensor `name` are whole blocks of `type`.
Result<void> check_block_rows(
    const BlockType& type, const std::string& name, std::int64_t in_features
);

}  // namespace rapt
