#pragma once

#include "quant/block/matrix_internal.h"

namespace rapt {

// Both layouts of format.h on every CPU level.
KernelBuilds<BlockMultiply> mxfp4_pairs_multiply();  // gpt-oss checkpoints
KernelBuilds<BlockMultiply> mxfp4_gguf_multiply();   // GGUF files

}  // namespace rapt
