#include "base/check.h"
#include "kernels/cpu/table_internal.h"

namespace rapt::cpu {

namespace scalar {
extern const KernelTable kKernelTable;
}

namespace avx2 {
extern const KernelTable kKernelTable;
}

namespace avx512 {
extern const KernelTable kKernelTable;
}

const KernelTable& kernel_table(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx512:
      return avx512::kKernelTable;
    case CpuLevel::kAvx2:
      return avx2::kKernelTable;
    case CpuLevel::kScalar:
      return scalar::kKernelTable;
    case CpuLevel::kReference:
      break;
  }
  CHECK(false, "the reference kernels have no table");
  return scalar::kKernelTable;
}

}  // namespace rapt::cpu
