// Row kernels over 16 lanes; the plain loops in kernels/ref define what they compute.

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

Vec swiglu(Vec gate, Vec up, float alpha, float limit) {
  const Vec one = splat(1.0F);
  gate = select_less(splat(limit), gate, splat(limit), gate);
  up = select_less(splat(limit), up, splat(limit), up);
  up = select_less(up, splat(-limit), splat(-limit), up);
  const Vec sigmoid = div(one, add(one, exp(mul(splat(-alpha), gate))));
  return mul(mul(gate, sigmoid), add(up, one));
}

void swiglu_row(const float* gate_up, float alpha, float limit, int64_t size, float* y) {
  for (int64_t begin = 0; begin < size; begin += kLanes) {
    const int64_t count = size - begin < kLanes ? size - begin : kLanes;
    float gate[kLanes] = {};
    float up[kLanes] = {};
    for (int64_t idx = 0; idx < count; ++idx) {
      gate[idx] = gate_up[2 * (begin + idx)];
      up[idx] = gate_up[2 * (begin + idx) + 1];
    }
    store_first(y + begin, swiglu(load(gate), load(up), alpha, limit), count);
  }
}

void rope_head(const float* cos, const float* sin, int64_t half_size, float* x) {
  for (int64_t begin = 0; begin < half_size; begin += kLanes) {
    const int64_t count = half_size - begin < kLanes ? half_size - begin : kLanes;
    const Vec c = load_first(cos + begin, count);
    const Vec s = load_first(sin + begin, count);
    const Vec first = load_first(x + begin, count);
    const Vec second = load_first(x + half_size + begin, count);
    const Vec zero = splat(0.0F);
    store_first(x + begin, fma(first, c, sub(zero, mul(second, s))), count);
    store_first(x + half_size + begin, fma(second, c, mul(first, s)), count);
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
const KernelTable kKernelTable = {rms_norm_row, swiglu_row, rope_head, exp_row};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
