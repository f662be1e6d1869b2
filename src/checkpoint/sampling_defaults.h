#pragma once

#include <optional>

#include "base/result.h"

namespace rapt {

class CheckpointDir;

// How a model's makers would have its tokens drawn, as far as its files say. The ranges are those
// of SamplingParams (request/request.h); what is absent has its value there.
struct SamplingDefaults {
  std::optional<float> temperature = {};
  std::optional<float> top_p = {};
  std::optional<int> top_k = {};
  std::optional<float> min_p = {};
  std::optional<float> repetition_penalty = {};
};

// From generation_config.json beside the weights, or from a GGUF file's `general.sampling` keys. A
// value that no sampling could use is an error that names file and field. `do_sample` counts for
// nothing, as in other servers: many models that are meant to be sampled have it false.
Result<SamplingDefaults> read_sampling_defaults(const CheckpointDir& checkpoint);

}  // namespace rapt
