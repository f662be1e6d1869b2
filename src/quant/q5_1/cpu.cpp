#include "quant/block/cpu_nibbles_internal.h"
#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

extern const BlockKernels kQ51Kernels;
const BlockKernels kQ51Kernels = {multiply_plainly, multiply_blocks<NibbleFormat<true, true>>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
