#pragma once

#include <cstdint>

#include "checkpoint/block_type.h"

namespace rapt {

// Q8_0 of GGUF files: 32 consecutive inputs of one output feature share a scale. A block is 34
// bytes: the scale as F16, then 32 int8; an element is its integer times the scale.
inline constexpr std::int64_t kQ80BlockSize = 32;
inline constexpr std::int64_t kQ80CodesOffset = 2;
inline constexpr BlockType kQ80Blocks = {"Q8_0", 8, kQ80BlockSize, kQ80CodesOffset + kQ80BlockSize};

}  // namespace rapt
