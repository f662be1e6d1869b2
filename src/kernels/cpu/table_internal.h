#pragma once

#include <cstdint>

#include "tensor/stream.h"

namespace rapt::cpu {

// The row kernels of one CPU level. Rows are contiguous fp32; sizes are in elements.
struct KernelTable {
  void (*rms_norm_row)(const float* x, const float* weight, float eps, std::int64_t size, float* y);
  void (*swiglu_row
  )(const float* gate_up, float alpha, float limit, float up_offset, std::int64_t size, float* y);
  void (*rope_head)(const float* cos, const float* sin, std::int64_t half_size, float* x);
  void (*add_row)(const float* y, std::int64_t size, float* x);
  void (*combine_row
  )(const float* const* outs, const float* weights, int num_outs, std::int64_t size, float* x);
  void (*exp_row)(const float* x, float shift, std::int64_t size, float* y);
};

// The table of a level that is not kReference.
const KernelTable& kernel_table(CpuLevel level);

}  // namespace rapt::cpu
