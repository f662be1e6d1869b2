// Row kernels over 16 lanes; the plain loops in kernels/ref define what they compute.

#include "kernels/cpu/swiglu.h"
#include "kernels/cpu/table_internal.h"
#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

void rms_norm_row(const float* x, const float* weight, float eps, int64_t size, float* y) {
  const int64_t whole = size / kLanes * kLanes;
  Vec squares = splat(0.0F);
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    const Vec value = load(x + idx);
    squares = fma(value, value, squares);
  }
  if (whole < size) {
    // The lanes past the end add 0 * 0, which changes no bit of a sum of squares.
    const Vec value = load_first(x + whole, size - whole);
    squares = fma(value, value, squares);
  }
  const float mean = sum_lanes(squares) / static_cast<float>(size);
  const float scale = 1.0F / __builtin_sqrtf(mean + eps);
  const Vec scales = splat(scale);
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    store(y + idx, mul(mul(load(x + idx), scales), load(weight + idx)));
  }
  for (int64_t idx = whole; idx < size; ++idx) {
    y[idx] = (x[idx] * scale) * weight[idx];
  }
}

void swiglu_row(
    const float* gate_up, float alpha, float limit, float up_offset, int64_t size, float* y
) {
  const int64_t whole = size / kLanes * kLanes;
  Vec gate;
  Vec up;
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    load_pairs(gate_up + 2 * idx, gate, up);
    store(y + idx, clamped_swiglu(gate, up, alpha, limit, up_offset));
  }
  if (whole < size) {
    float rest[2 * kLanes] = {};
    for (int64_t idx = 2 * whole; idx < 2 * size; ++idx) {
      rest[idx - 2 * whole] = gate_up[idx];
    }
    load_pairs(rest, gate, up);
    store_first(y + whole, clamped_swiglu(gate, up, alpha, limit, up_offset), size - whole);
  }
}

void rope_head(const float* cos, const float* sin, int64_t half_size, float* x) {
  const int64_t whole = half_size / kLanes * kLanes;
  const Vec zero = splat(0.0F);
  float* y = x + half_size;
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    const Vec c = load(cos + idx);
    const Vec s = load(sin + idx);
    const Vec first = load(x + idx);
    const Vec second = load(y + idx);
    store(x + idx, fma(first, c, sub(zero, mul(second, s))));
    store(y + idx, fma(second, c, mul(first, s)));
  }
  for (int64_t idx = whole; idx < half_size; ++idx) {
    const float first = x[idx];
    const float second = y[idx];
    x[idx] = __builtin_fmaf(first, cos[idx], 0.0F - second * sin[idx]);
    y[idx] = __builtin_fmaf(second, cos[idx], first * sin[idx]);
  }
}

void add_row(const float* y, int64_t size, float* x) {
  const int64_t whole = size / kLanes * kLanes;
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    store(x + idx, add(load(x + idx), load(y + idx)));
  }
  for (int64_t idx = whole; idx < size; ++idx) {
    x[idx] += y[idx];
  }
}

void combine_row(
    const float* const* outs, const float* weights, int num_outs, int64_t size, float* x
) {
  const int64_t whole = size / kLanes * kLanes;
  for (int64_t idx = 0; idx < whole; idx += kLanes) {
    Vec sum = splat(0.0F);
    for (int out_idx = 0; out_idx < num_outs; ++out_idx) {
      sum = fma(splat(weights[out_idx]), load(outs[out_idx] + idx), sum);
    }
    store(x + idx, add(load(x + idx), sum));
  }
  for (int64_t idx = whole; idx < size; ++idx) {
    float sum = 0.0F;
    for (int out_idx = 0; out_idx < num_outs; ++out_idx) {
      sum = __builtin_fmaf(weights[out_idx], outs[out_idx][idx], sum);
    }
    x[idx] += sum;
  }
}

void exp_row(const float* x, float shift, int64_t size, float* y) {
  for (int64_t begin = 0; begin < size; begin += kLanes) {
    const int64_t count = size - begin < kLanes ? size - begin : kLanes;
    if (count == kLanes) {
      store(y + begin, exp(sub(load(x + begin), splat(shift))));
    } else {
      store_first(y + begin, exp(sub(load_first(x + begin, count), splat(shift))), count);
    }
  }
}

}  // namespace

extern const KernelTable kKernelTable;
const KernelTable kKernelTable = {
    rms_norm_row, swiglu_row, rope_head, add_row, combine_row, exp_row};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
