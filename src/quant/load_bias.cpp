#include <cstdint>

#include "quant/load_bias_internal.h"

namespace rapt {

Result<std::vector<float>> load_bias(WeightLoader& loader, const LinearSpec& spec) {
  if (spec.bias.empty()) {
    return std::vector<float>{};
  }
  const std::int64_t num_matrices = spec.num_experts.value_or(1);
  const std::int64_t num_parts = spec.second.empty() ? 1 : 2;
  const std::int64_t stored = spec.rows_in_file() / num_parts;
  const Shape shape = spec.num_experts ? Shape{num_matrices, stored} : Shape{stored};
  std::vector<float> bias(static_cast<std::size_t>(num_matrices * spec.out_features));
  for (std::int64_t part = 0; part < num_parts; ++part) {
    ASSIGN_OR_RETURN(
        const std::vector<float> values,
        load_f32(loader, part == 0 ? spec.bias : spec.second_bias, shape)
    );
    for (std::int64_t matrix = 0; matrix < num_matrices; ++matrix) {
      for (std::int64_t row = part; row < spec.out_features; row += num_parts) {
        bias[static_cast<std::size_t>(matrix * spec.out_features + row)] =
            values[static_cast<std::size_t>(matrix * stored + spec.first_row + row / num_parts)];
      }
    }
  }
  return bias;
}

}  // namespace rapt
