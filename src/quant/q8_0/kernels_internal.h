#pragma once

#include "quant/block/matrix_internal.h"

namespace rapt {

KernelBuilds<BlockMultiply> q8_0_multiply();

}  // namespace rapt
