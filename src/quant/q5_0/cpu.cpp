#include "quant/block/cpu_nibbles_internal.h"
#include "quant/block/cpu_plain_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

extern const BlockKernels kQ50Kernels;
const BlockKernels kQ50Kernels = {multiply_plainly, multiply_blocks<NibbleFormat<false, true>>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
