#pragma once

#include <string_view>

#include "base/thread_pool.h"

namespace rapt {

// Which build of the CPU kernels runs. All give the same bits (docs/NUMERICS.md).
enum class CpuLevel {
  kReference,  // the plain loops that define each operator
  kScalar,     // the fast kernels' text with its 16 lanes as loops; runs anywhere
  kAvx2,       // AVX2, FMA, F16C
  kAvx512,     // AVX-512 F, BW, DQ, VL
};

constexpr std::string_view name_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::kReference:
      return "reference";
    case CpuLevel::kScalar:
      return "scalar";
    case CpuLevel::kAvx2:
      return "avx2";
    case CpuLevel::kAvx512:
      return "avx512";
  }
  return "?";
}

// The highest level this machine can run.
CpuLevel best_cpu_level();

// Where kernels run: a thread pool and the build of the kernels. Passed to every kernel; owns
// nothing. Kernels return when the work is done.
struct Stream {
  ThreadPool* pool = nullptr;
  CpuLevel level = CpuLevel::kScalar;
};

}  // namespace rapt
