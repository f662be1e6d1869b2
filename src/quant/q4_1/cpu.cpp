#include "quant/block/cpu_nibbles_internal.h"
#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

extern const BlockKernels kQ41Kernels;
const BlockKernels kQ41Kernels = {multiply_plainly, multiply_blocks<NibbleFormat<true, false>>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
