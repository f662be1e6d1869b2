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
  const KernelTable* table =
      KernelBuilds<const KernelTable*>{
          .scalar = &scalar::kKernelTable,
          .avx2 = &avx2::kKernelTable,
          .avx512 = &avx512::kKernelTable,
      }
          .at(level);
  CHECK(table != nullptr, "the reference kernels have no table");
  return *table;
}

}  // namespace rapt::cpu
