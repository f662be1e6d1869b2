#include "tensor/stream.h"

#include "base/cpu_info.h"

namespace rapt {

CpuLevel best_cpu_level() {
  const CpuInfo info = detect_cpu();
  if (info.has_avx512) {
    return CpuLevel::kAvx512;
  }
  return info.has_avx2_fma ? CpuLevel::kAvx2 : CpuLevel::kScalar;
}

}  // namespace rapt
