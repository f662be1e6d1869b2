#include <utility>
#include <vector>

#include "quant/dense/kernel_internal.h"
#include "quant/load_bias_internal.h"
#include "quant/multiply_items_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace {

class DenseLinear : public LinearMethod {
 public:
  DenseLinear(Tensor weight, Tensor second, std::vector<float> bias, const LinearSpec& spec)
      : weight_(weight),
        second_(second),
        bias_(std::move(bias)),
        in_features_(spec.in_features),
        out_features_(spec.out_features),
        num_matrices_(spec.num_experts.value_or(1)),
        stored_rows_(spec.rows_in_file() / (spec.second.empty() ? 1 : 2)),
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

  bool reads_packed() const override { return false; }

  void multiply(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,
      std::span<const RowGroup> groups,
      Tensor y
  ) const override {
    run(MultiplyCall{stream, input, input_rows, groups, y});
  }

  void multiply_swiglu(
      const Stream& stream,
      const PackedInput& input,
      std::span<const std::int32_t> input_rows,
      std::span<const RowGroup> groups,
      ClampedSwiglu activation,
      Tensor y
  ) const override {
    run(MultiplyCall{stream, input, input_rows, groups, y, &activation});
  }

 private:
  DenseMatrix matrix(std::int64_t matrix_idx) const {
    const std::int64_t matrix_size = stored_rows_ * in_features_;
    const auto at = [&](Tensor tensor, std::int64_t idx) -> const void* {
      const auto* data = static_cast<const char*>(tensor.raw());
      return data + (matrix_idx * matrix_size + idx) * size_of(tensor.dtype());
    };
    DenseMatrix matrix;
    matrix.dtype = weight_.dtype();
    matrix.in_features = in_features_;
    if (transposed_) {
      matrix.columns = at(weight_, first_row_);
      matrix.row_stride = stored_rows_;
      return matrix;
    }
    const bool is_split = !second_.empty();
    matrix.rows[0] = at(weight_, first_row_ * in_features_);
    matrix.rows[1] = is_split ? at(second_, 0) : at(weight_, (first_row_ + 1) * in_features_);
    matrix.row_stride = is_split ? in_features_ : 2 * in_features_;
    return matrix;
  }

  void run(const MultiplyCall& call) const {
    CHECK(call.input.x.size(1) == in_features_, "x has ", call.input.x.size(1), " columns");
    const CpuLevel level = call.stream.level;
    const DenseMultiply kernel = dense_multiply(level);
    const auto run_item = [&](std::int32_t matrix_idx,
                              std::int64_t first_feature,
                              std::int64_t end_feature,
                              const MultiplyRows& rows,
                              const auto& /*next*/) {
      const DenseMatrix weights = matrix(matrix_idx);
      const float* bias = bias_.empty() ? nullptr : bias_.data() + matrix_idx * out_features_;
      const auto multiply = [&](const MultiplyRows& part) {
        kernel(weights, bias, first_feature, end_feature, part);
      };
      multiply_then_activate(level, first_feature, end_feature, rows, multiply);
    };
    for_each_multiply_item(call, out_features_, 1, run_item);
  }

  Tensor weight_;
  Tensor second_;            // the odd rows, where they are stored apart
  std::vector<float> bias_;  // [num_matrices, out_features] or empty
  std::int64_t in_features_;
  std::int64_t out_features_;
  std::int64_t num_matrices_;
  std::int64_t stored_rows_;  // of each tensor
  std::int64_t first_row_;
  bool transposed_;
};

bool matches(const WeightLoader& loader, const LinearSpec& spec) {
  return loader.has(spec.dense);
}

Result<std::unique_ptr<LinearMethod>> load(WeightLoader& loader, const LinearSpec& spec) {
  const std::int64_t stored_rows = spec.rows_in_file() / (spec.second.empty() ? 1 : 2);
  const std::int64_t first = spec.dense_transposed ? spec.in_features : stored_rows;
  const std::int64_t second = spec.dense_transposed ? stored_rows : spec.in_features;
  const Shape shape =
      spec.num_experts ? Shape{*spec.num_experts, first, second} : Shape{first, second};
  ASSIGN_OR_RETURN(
      const Tensor weight, loader.take(spec.dense, shape, {DType::kBF16, DType::kF16, DType::kF32})
  );
  Tensor odd_rows;
  if (!spec.second.empty()) {
    CHECK(!spec.dense_transposed, "not a layout of float tensors");
    ASSIGN_OR_RETURN(odd_rows, loader.take(spec.second, shape, {weight.dtype()}));
  }
  ASSIGN_OR_RETURN(std::vector<float> bias, load_bias(loader, spec));
  return std::unique_ptr<LinearMethod>(
      std::make_unique<DenseLinear>(weight, odd_rows, std::move(bias), spec)
  );
}

}  // namespace

WeightFormat dense_format() {
  return {"dense", {}, matches, load};
}

}  // namespace rapt
