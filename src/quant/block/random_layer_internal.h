#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "quant/block/linear_internal.h"
#include "tensor/buffer.h"

namespace rapt {

// A layer with random weights in one layout, for selftests and measurements. Movable.
struct RandomLayer {
  Buffer stored;  // of [1] when gate and up are stored apart: behind those of [0]
  Buffer scales;  // where they lie apart
  std::unique_ptr<BlockLinear> linear;
};

struct RandomLayerSizes {
  std::int64_t num_matrices = 1;
  std::int64_t out_features = 0;
  std::int64_t in_features = 0;  // whole blocks
  bool is_split = false;         // gate and up are stored apart
  bool has_bias = false;
};

// The same weights each time; codes are any, scales of a common size. Fails when memory is short.
Result<RandomLayer> make_random_layer(const BlockFormat& format, const RandomLayerSizes& sizes);

}  // namespace rapt
