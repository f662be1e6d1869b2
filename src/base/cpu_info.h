#pragma once

#include <cstdint>
#include <string>

namespace rapt {

// What this process may use of the machine.
struct CpuInfo {
  std::string model_name;          // as /proc/cpuinfo has it; "" when unknown
  int num_usable_cores = 1;        // affinity mask and cgroup quota (rounded up), whichever is less
  std::uint64_t memory_bytes = 0;  // physical memory or the cgroup's limit, whichever is less
  bool has_avx2_fma = false;       // AVX2, FMA and F16C, and the system saves their registers
  bool has_amx = false;            // AMX tiles
  bool has_avx512 = false;         // AVX-512 F, BW, DQ, VL
  bool has_avx512_vnni = false;    // and AVX-512 VNNI
};

// Reads it from CPUID, /proc and /sys/fs/cgroup (v1 and v2).
CpuInfo detect_cpu();

// Sets the calling thread's floating-point mode: round to nearest, denormals kept (no FTZ, no DAZ).
// Every compute thread calls it first: docs/NUMERICS.md.
void set_compute_float_mode();

}  // namespace rapt
