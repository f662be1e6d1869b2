#pragma once

#include <span>

#include "request/request.h"

namespace rapt {

// Fills in the log-probability of `sampled.token` and of the `num_top` best tokens, from raw
// logits, the largest of them (finite) and the sum of exp(logit - max_logit). Ranks count from 1;
// among equal logits the lower id is the better. Reuses the memory of `sampled`.
void fill_logprobs(
    std::span<const float> logits,
    float max_logit,
    double exp_sum,
    int num_top,
    SampledToken& sampled
);

}  // namespace rapt
