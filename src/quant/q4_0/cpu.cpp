#include "quant/block/cpu_nibbles_internal.h"
#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

extern const BlockKernels kQ40Kernels;
const BlockKernels kQ40Kernels = {multiply_plainly, multiply_blocks<NibbleFormat<false, false>>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
