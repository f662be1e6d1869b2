#include <vector>

#include "quant/dense/kernel_internal.h"
#include "quant/multiply_items_internal.h"
#include "quant/weight_format.h"

namespace rapt {

namespace {

class DenseLinear : public LinearMethod {
 public:
  DenseLinear(Tensor weight, std::vector<float> bias, const LinearSpec& spec)
      : weight_(weight),
        bias_(std::move(bias)),
        in_features_(spec.in_features),
        out_features_(spec.out_features),
        num_matrices_(spec.num_experts.value_or(1)),
        stored_rows_(spec.stored_rows > 0 ? spec.stored_rows : spec.out_features),
        first_row_(spec.first_row),
        transposed_(spec.dense_transposed) {}

  std::string_view format() const override {
    switch (weight_.dtype()) {
      case DType::kF32:
        return "f32";
      case DType::kF16:
        return "f16";
      default:
        return "bf16";
    }
  }

  std::int64_t in_features() const override { return in_features_; }

  std::int64_t out_features() const override { return out_features_; }

  std::int64_t num_matrices() const override { return num_matrices_; }

  std::int64_t num_bytes() const override {
    return (num_matrices_ * out_features_ * (in_features_ + (bias_.empty() ? 0 : 1))) *
           size_of(weight_.dtype());
  }

  void multiply(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,
      std::span<const RowGroup> groups,
      Tensor y
  ) const override {
    CHECK(input.x.size(1) == in_features_ && y.size(1) == out_features_);
    const DenseMultiply kernel = dense_multiply(stream.level);
    const auto* data = static_cast<const char*>(weight_.raw());
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
          const std::int64_t first = matrix_idx * stored_rows_ * in_features_ +
                                     first_row_ * (transposed_ ? 1 : in_features_);
          const DenseMatrix matrix = {
              .data = data + first * size_of(weight_.dtype()),
              .dtype = weight_.dtype(),
              .in_features = in_features_,
              .feature_stride = transposed_ ? 1 : in_features_,
              .k_stride = transposed_ ? stored_rows_ : 1,
          };
          const float* bias = bias_.empty() ? nullptr : bias_.data() + matrix_idx * out_features_;
          kernel(matrix, bias, first_feature, end_feature, rows);
        }
    );
  }

 private:
  Tensor weight_;
  std::vector<float> bias_;  // [num_matrices, out_features] or empty
  std::int64_t in_features_;
  std::int64_t out_features_;
  std::int64_t num_matrices_;
  std::int64_t stored_rows_;
  std::int64_t first_row_;
  bool transposed_;
};

bool matches(const WeightLoader& loader, const LinearSpec& spec) {
  return loader.has(spec.dense);
}

Result<std::unique_ptr<LinearMethod>> load(WeightLoader& loader, const LinearSpec& spec) {
  const std::int64_t stored_rows = spec.stored_rows > 0 ? spec.stored_rows : spec.out_features;
  const std::int64_t first = spec.dense_transposed ? spec.in_features : stored_rows;
  const std::int64_t second = spec.dense_transposed ? stored_rows : spec.in_features;
  const Shape shape =
      spec.num_experts ? Shape{*spec.num_experts, first, second} : Shape{first, second};
  ASSIGN_OR_RETURN(
      const Tensor weight, loader.take(spec.dense, shape, {DType::kBF16, DType::kF16, DType::kF32})
  );
  std::vector<float> bias;
  if (!spec.bias.empty()) {
    ASSIGN_OR_RETURN(
        bias,
        load_f32(
            loader,
            spec.bias,
            spec.num_experts ? Shape{*spec.num_experts, stored_rows} : Shape{stored_rows}
        )
    );
    if (!spec.num_experts) {
      bias = std::vector<float>(
          bias.begin() + spec.first_row, bias.begin() + spec.first_row + spec.out_features
      );
    }
  }
  return std::unique_ptr<LinearMethod>(std::make_unique<DenseLinear>(weight, std::move(bias), spec)
  );
}

}  // namespace

WeightFormat dense_format() {
  return {"dense", matches, load};
}

}  // namespace rapt
