#pragma once

#include <span>

#include "request/request.h"

namespace rapt {

// Fills in the log-probability of `sampled.token` and of the `num_top` best tokens, from raw logits
// whose largest is `max_logit` (finite). Ranks count from 1; among equal logits the lower id is
// the better. Reuses the memory of `sampled`.
void fill_logprobs(
    std::span<const float> logits, float max_logit, int num_top, SampledToken& sampled
);

}  // namespace rapt
