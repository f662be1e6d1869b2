#pragma once

#include <cstdint>

#include "quant/packed_input.h"

namespace rapt {

// Packs `size` inputs of one row, as packed_input.h says.
using PackRow = void (*)(const float* x, std::int64_t size, LinearMode mode, std::uint8_t* to);

}  // namespace rapt
