#include <vector>

#include "quant/multiply_items_internal.h"
#include "quant/mxfp4/format.h"
#include "quant/mxfp4/kernel_internal.h"
#include "quant/weight_format.h"

namespace rapt {

namespace {

class Mxfp4Linear : public LinearMethod {
 public:
  Mxfp4Linear(Tensor blocks, Tensor scales, std::vector<float> bias, const LinearSpec& spec)
      : blocks_(blocks),
        scales_(scales),
        bias_(std::move(bias)),
        in_features_(spec.in_features),
        out_features_(spec.out_features),
        num_matrices_(spec.num_experts.value_or(1)) {}

  std::string_view format() const override { return "mxfp4"; }

  std::int64_t in_features() const override { return in_features_; }

  std::int64_t out_features() const override { return out_features_; }

  std::int64_t num_matrices() const override { return num_matrices_; }

  std::int64_t num_bytes() const override {
    return blocks_.num_bytes() + scales_.num_bytes() +
           static_cast<std::int64_t>(bias_.size() * sizeof(float));
  }

  void multiply(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,
      std::span<const RowGroup> groups,
      Tensor y
  ) const override {
    CHECK(input.x.size(1) == in_features_ && y.size(1) == out_features_);
    const Mxfp4Multiply kernel = mxfp4_multiply(stream.level);
    const std::int64_t blocks_per_matrix = out_features_ * in_features_ / kMxfp4BlockSize;
    for_each_multiply_item(
        stream,
        input,
        input_rows,
        groups,
        y,
        [&](std::int32_t matrix_idx,
            std::int64_t first_feature,
            std::int64_t end_feature,
            const MultiplyRows& rows) {
          const std::int64_t first_block = matrix_idx * blocks_per_matrix;
          const Mxfp4Matrix matrix = {
              .blocks =
                  static_cast<const std::uint8_t*>(blocks_.raw()) + first_block * kMxfp4BlockBytes,
              .scales = static_cast<const std::uint8_t*>(scales_.raw()) + first_block,
              .in_features = in_features_,
          };
          const float* bias = bias_.empty() ? nullptr : bias_.data() + matrix_idx * out_features_;
          kernel(matrix, bias, first_feature, end_feature, rows);
        }
    );
  }

 private:
  Tensor blocks_;  // [num_matrices, out_features, in_features / 32, 16]
  Tensor scales_;  // [num_matrices, out_features, in_features / 32]
  std::vector<float> bias_;
  std::int64_t in_features_;
  std::int64_t out_features_;
  std::int64_t num_matrices_;
};

bool matches(const WeightLoader& loader, const LinearSpec& spec) {
  return !spec.blocks.empty() && (loader.has(spec.blocks) || loader.has(spec.scales));
}

Result<std::unique_ptr<LinearMethod>> load(WeightLoader& loader, const LinearSpec& spec) {
  if (spec.in_features % kMxfp4BlockSize != 0) {
    return bad_file(
        "\"" + spec.blocks +
        "\" is MXFP4, whose rows are whole blocks of 32, but the model's "
        "config makes them " +
        std::to_string(spec.in_features) + " long"
    );
  }
  const std::int64_t num_matrices = spec.num_experts.value_or(1);
  const std::int64_t num_blocks = spec.in_features / kMxfp4BlockSize;
  ASSIGN_OR_RETURN(
      const Tensor blocks,
      loader.take(
          spec.blocks,
          Shape{num_matrices, spec.out_features, num_blocks, kMxfp4BlockBytes},
          {DType::kU8}
      )
  );
  ASSIGN_OR_RETURN(
      const Tensor scales,
      loader.take(spec.scales, Shape{num_matrices, spec.out_features, num_blocks}, {DType::kU8})
  );
  std::vector<float> bias;
  if (!spec.bias.empty()) {
    ASSIGN_OR_RETURN(bias, load_f32(loader, spec.bias, Shape{num_matrices, spec.out_features}));
  }
  return std::unique_ptr<LinearMethod>(
      std::make_unique<Mxfp4Linear>(blocks, scales, std::move(bias), spec)
  );
}

}  // namespace

WeightFormat mxfp4_format() {
  return {"mxfp4", matches, load};
}

}  // namespace rapt
