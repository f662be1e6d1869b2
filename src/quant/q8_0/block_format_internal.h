#pragma once

#include "quant/block/format_internal.h"

namespace rapt {

BlockFormat q8_0_block_format();

}  // namespace rapt
