#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/sampler.h"

namespace rapt {

// Does this row ask for its logits to be changed before the choice: a bias, a penalty, tokens that
// may not come?
bool needs_edit(const SamplerRow& row);

// Applies in order: logit_bias, repetition penalty (prompt and output), frequency and presence
// penalties (output), then -inf for what the constraint forbids and, before min_tokens, for what
// would end the choice. Finite values stay finite or become -inf. `counts` is scratch, one a token,
// all zero before and after.
void edit_logits(const SamplerRow& row, std::span<float> logits, std::span<std::uint32_t> counts);

}  // namespace rapt
