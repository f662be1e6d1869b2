#pragma once

#include <string_view>
#include <vector>

#include "base/thread_pool.h"

namespace rapt {

// Which build of the CPU kernels runs. All give the same bits (docs/NUMERICS.md).
enum class CpuLevel {
  kReference,   // the plain loops that define each operator
  kScalar,      // the fast kernels' text with its 16 lanes as loops; runs anywhere
  kAvx2,        // AVX2, FMA, F16C
  kAvx512,      // AVX-512 F, BW, DQ, VL
  kAvx512Vnni,  // and VNNI, for the kernels that multiply integers; the others run as kAvx512
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
    case CpuLevel::kAvx512Vnni:
      return "avx512vnni";
  }
  return "?";
}

// The highest level this machine can run.
CpuLevel best_cpu_level();

// All levels this machine can run: the reference, and the fast ones in ascending order.
std::vector<CpuLevel> runnable_cpu_levels();

// The builds of one kernel: a function pointer, or a pointer to a table of them. The VNNI build is
// there for kernels that gain from it.
template <typename Kernel>
struct KernelBuilds {
  Kernel reference = {};
  Kernel scalar = {};
  Kernel avx2 = {};
  Kernel avx512 = {};
  Kernel avx512vnni = {};

  Kernel at(CpuLevel level) const {
    switch (level) {
      case CpuLevel::kAvx512Vnni:
        return avx512vnni != Kernel{} ? avx512vnni : avx512;
      case CpuLevel::kAvx512:
        return avx512;
      case CpuLevel::kAvx2:
        return avx2;
      case CpuLevel::kScalar:
        return scalar;
      case CpuLevel::kReference:
        break;
    }
    return reference;
  }
};

// Where kernels run: a thread pool and the build of the kernels. Passed to every kernel; owns
// nothing. Kernels return when the work is done.
struct Stream {
  ThreadPool* pool = nullptr;
  CpuLevel level = CpuLevel::kScalar;
};

}  // namespace rapt
