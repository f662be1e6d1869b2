#pragma once

#include <vector>

#include "quant/weight_format.h"

namespace rapt {

// The bias that `spec` names as fp32 [num_matrices, out_features], from one tensor or from two
// whose elements alternate; empty when it names none.
Result<std::vector<float>> load_bias(WeightLoader& loader, const LinearSpec& spec);

}  // namespace rapt
