#include <algorithm>
#include <cstring>
#include <utility>

#include "quant/block/linear_internal.h"
#include "quant/load_bias_internal.h"

namespace rapt {

namespace {

// Of 32 features, in an item with few rows.
constexpr std::int64_t kMaxFusedStrips = 8;

}  // namespace

BlockLinear::BlockLinear(
    const BlockFormat& format,
    const BlockTensors& tensors,
    std::vector<float> bias,
    const LinearSpec& spec
)
    : format_(format),
      tensors_(tensors),
      bias_(std::move(bias)),
      in_features_(spec.in_features),
      out_features_(spec.out_features),
      num_matrices_(spec.num_experts.value_or(1)) {}

std::int64_t BlockLinear::num_bytes() const {
  const bool has_own_scales = tensors_.scales[0].row_bytes != tensors_.codes[0].row_bytes;
  const std::int64_t row_bytes =
      tensors_.codes[0].row_bytes + (has_own_scales ? tensors_.scales[0].row_bytes : 0);
  return num_matrices_ * out_features_ * row_bytes +
         static_cast<std::int64_t>(bias_.size() * sizeof(float));
}

BlockMatrix BlockLinear::matrix(std::int64_t matrix_idx) const {
  BlockMatrix matrix;
  matrix.layout = format_.layout;
  const auto place = [&](const BlockTensors::Part(&parts)[2], const std::uint8_t*(&first)[2]) {
    const BlockTensors::Part& even = parts[0];
    const BlockTensors::Part& odd = parts[1];
    first[0] = even.data + matrix_idx * even.matrix_bytes;
    first[1] =
        odd.data == nullptr ? first[0] + even.row_bytes : odd.data + matrix_idx * odd.matrix_bytes;
    return odd.data == nullptr ? 2 * even.row_bytes : even.row_bytes;
  };
  matrix.codes_stride = place(tensors_.codes, matrix.codes);
  matrix.scales_stride = place(tensors_.scales, matrix.scales);
  if (pieces_ != nullptr) {
    matrix.piece_bytes = prepared_piece_bytes();
    matrix.pieces = pieces_ + matrix_idx * pieces_per_matrix() * matrix.piece_bytes;
  }
  matrix.num_rows = out_features_;
  matrix.num_blocks = in_features_ / kPackedBlockSize;
  return matrix;
}

void BlockLinear::run(const MultiplyCall& call) const {
  CHECK(call.input.x.size(1) == in_features_, "x has ", call.input.x.size(1), " columns");
  const CpuLevel level = call.stream.level;
  const BlockKernels& kernels = *format_.kernels.at(level);
  const bool may_fuse = kernels.fused != nullptr && call.input.mode != LinearMode::kF32 &&
                        out_features_ >= kMinFusedRows;
  const auto run_item = [&](std::int32_t matrix_idx,
                            std::int64_t first_feature,
                            std::int64_t end_feature,
                            const MultiplyRows& rows,
                            const auto& next) {
    BlockMatrix weights = matrix(matrix_idx);
    const float* bias = bias_.empty() ? nullptr : bias_.data() + matrix_idx * out_features_;
    // Only a last strip can have an odd number of features.
    const std::int64_t end_fused = !may_fuse ? first_feature
                                   : (end_feature - first_feature) % 2 == 0
                                       ? end_feature
                                       : (end_feature - 1) / kPieceRows * kPieceRows;
    if (first_feature < end_fused) {
      // The last strip by itself, so that what is read next is asked for as late as possible.
      const std::int64_t last_strip = (end_fused - 1) / kPieceRows * kPieceRows;
      const BlockMatrix same = weights;
      if (first_feature < last_strip) {
        weights.next = &same;
        weights.next_row = last_strip;
        kernels.fused(weights, bias, first_feature, last_strip, rows);
      }
      const NextStrip strip = next();
      const BlockMatrix after = matrix(std::max(strip.matrix, 0));
      weights.next = strip.matrix < 0 ? nullptr : &after;
      weights.next_row = strip.first_feature;
      kernels.fused(weights, bias, last_strip, end_fused, rows);
    }
    if (end_fused < end_feature) {
      const auto multiply = [&](const MultiplyRows& part) {
        kernels.plain(weights, bias, end_fused, end_feature, part);
      };
      multiply_then_activate(level, end_fused, end_feature, rows, multiply);
    }
  };
  const std::int64_t max_strips = may_fuse ? kMaxFusedStrips : 1;
  for_each_multiply_item(call, out_features_, max_strips, run_item);
}

void BlockLinear::multiply(
    const Stream& stream,
    const PackedInput& input,
    std::span<const std::int32_t> input_rows,
    std::span<const RowGroup> groups,
    Tensor y
) const {
  run(MultiplyCall{stream, input, input_rows, groups, y});
}

void BlockLinear::multiply_swiglu(
    const Stream& stream,
    const PackedInput& input,
    std::span<const std::int32_t> input_rows,
    std::span<const RowGroup> groups,
    ClampedSwiglu activation,
    Tensor y
) const {
  run(MultiplyCall{stream, input, input_rows, groups, y, &activation});
}

std::int64_t BlockLinear::pieces_per_matrix() const {
  return (out_features_ + kPieceRows - 1) / kPieceRows;
}

std::vector<std::span<const std::byte>> BlockLinear::stored_bytes() const {
  std::vector<std::span<const std::byte>> all;
  const auto add = [&](const BlockTensors::Part(&parts)[2]) {
    // The rows of a matrix lie one after the other; those of one tensor's matrices too, unless it
    // is a part of a larger one, whose other rows are then counted in.
    const std::int64_t num_rows = parts[1].data == nullptr ? out_features_ : out_features_ / 2;
    for (const BlockTensors::Part& part : parts) {
      if (part.data != nullptr) {
        const std::int64_t num_bytes =
            (num_matrices_ - 1) * part.matrix_bytes + num_rows * part.row_bytes;
        all.emplace_back(
            reinterpret_cast<const std::byte*>(part.data), static_cast<std::size_t>(num_bytes)
        );
      }
    }
  };
  add(tensors_.codes);
  if (tensors_.scales[0].row_bytes != tensors_.codes[0].row_bytes) {
    add(tensors_.scales);
  }
  return all;
}

std::int64_t BlockLinear::num_prepared_pieces() const {
  return out_features_ < kMinFusedRows ? 0 : num_matrices_ * pieces_per_matrix();
}

std::int64_t BlockLinear::prepared_piece_bytes() const {
  const std::int64_t num_stored = in_features_ / format_.type.elements;
  return 2 * prepared_half_bytes(
                 num_stored * (format_.prepared_codes_bytes + format_.prepared_scales_bytes)
             );
}

void BlockLinear::write_prepared(std::int64_t piece_idx, std::byte* to) const {
  const BlockMatrix from = matrix(piece_idx / pieces_per_matrix());
  const std::int64_t first_row = piece_idx % pieces_per_matrix() * kPieceRows;
  const std::int64_t num_rows = std::min(kPieceRows, out_features_ - first_row);
  auto* piece = reinterpret_cast<std::uint8_t*>(to);
  std::memset(piece, 0, static_cast<std::size_t>(prepared_piece_bytes()));
  const std::int64_t num_stored = in_features_ / format_.type.elements;
  for (std::int64_t row = first_row; row < first_row + num_rows; ++row) {
    std::uint8_t* codes = piece + row % 2 * (prepared_piece_bytes() / 2);
    std::uint8_t* scales = codes + num_stored * format_.prepared_codes_bytes;
    const std::uint8_t* from_codes = from.codes[row % 2] + row / 2 * from.codes_stride;
    const std::uint8_t* from_scales = from.scales[row % 2] + row / 2 * from.scales_stride;
    for (std::int64_t block = 0; block < num_stored; ++block) {
      format_.prepare(
          from_codes + block * format_.layout.codes_bytes,
          from_scales + block * format_.layout.scales_bytes,
          (row - first_row) / 2,
          codes + block * format_.prepared_codes_bytes,
          scales + block * format_.prepared_scales_bytes
      );
    }
  }
}

Result<void> check_block_rows(
    const BlockType& type, const std::string& name, std::int64_t in_features
) {
  if (in_features % type.elements == 0) {
    return {};
  }
  return bad_file(
      "\"" + name + "\" is " + std::string(type.name) + ", whose rows are whole blocks of " +
      std::to_string(type.elements) + ", but the model's config makes them " +
      std::to_string(in_features) + " long"
  );
}

Result<std::unique_ptr<LinearMethod>> load_blocks(
    WeightLoader& loader, const LinearSpec& spec, const BlockFormat& format
) {
  const BlockType& type = format.type;
  RETURN_IF_ERROR(check_block_rows(type, spec.dense, spec.in_features));
  const std::int64_t row_bytes = spec.in_features / type.elements * type.bytes;
  const std::int64_t num_parts = spec.second.empty() ? 1 : 2;
  const std::int64_t stored_rows = spec.rows_in_file() / num_parts;
  const Shape shape = spec.num_experts ? Shape{*spec.num_experts, stored_rows, spec.in_features}
                                       : Shape{stored_rows, spec.in_features};
  BlockTensors tensors;
  for (std::int64_t part = 0; part < num_parts; ++part) {
    const std::string& name = part == 0 ? spec.dense : spec.second;
    ASSIGN_OR_RETURN(const auto bytes, loader.take_blocks(name, shape, type));
    const auto* data =
        reinterpret_cast<const std::uint8_t*>(bytes.data()) + spec.first_row * row_bytes;
    tensors.scales[part] = {data, row_bytes, stored_rows * row_bytes};
    tensors.codes[part] = {data + format.codes_offset, row_bytes, stored_rows * row_bytes};
  }
  ASSIGN_OR_RETURN(std::vector<float> bias, load_bias(loader, spec));
  return std::unique_ptr<LinearMethod>(
      std::make_unique<BlockLinear>(format, tensors, std::move(bias), spec)
  );
}

}  // namespace rapt
