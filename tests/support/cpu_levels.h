#pragma once

#include <vector>

#include "tensor/stream.h"

namespace rapt::testing {

// The kernels that this machine can run: the reference, and the fast ones at each level.
inline std::vector<CpuLevel> runnable_cpu_levels() {
  std::vector<CpuLevel> levels = {CpuLevel::kReference, CpuLevel::kScalar};
  if (best_cpu_level() != CpuLevel::kScalar) {
    levels.push_back(CpuLevel::kAvx2);
  }
  if (best_cpu_level() == CpuLevel::kAvx512) {
    levels.push_back(CpuLevel::kAvx512);
  }
  return levels;
}

}  // namespace rapt::testing
