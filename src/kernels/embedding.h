#pragma once

#include <cstdint>
#include <span>

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

// out[t] = table[token_ids[t]] as fp32. Ids must be inside the table.
void embed(
    const Stream& stream,
    Tensor table,                             // [vocab_size, hidden_size] F32, F16 or BF16
    std::span<const std::int32_t> token_ids,  // [num_tokens]
    Tensor out                                // [num_tokens, hidden_size] fp32
);

// Copies any float tensor to fp32, exactly.
void convert_to_f32(Tensor from, float* to);

}  // namespace rapt
