#include "tensor/stream.h"

#include "base/cpu_info.h"

namespace rapt {

std::vector<CpuLevel> runnable_cpu_levels() {
  const CpuInfo info = detect_cpu();
  std::vector<CpuLevel> levels = {CpuLevel::kReference, CpuLevel::kScalar};
  if (info.has_avx2_fma) {
    levels.push_back(CpuLevel::kAvx2);
  }
  if (info.has_avx512) {
    levels.push_back(CpuLevel::kAvx512);
  }
  if (info.has_avx512_vnni) {
    levels.push_back(CpuLevel::kAvx512Vnni);
  }
  return levels;
}

CpuLevel best_cpu_level() {
  return runnable_cpu_levels().back();
}

}  // namespace rapt
