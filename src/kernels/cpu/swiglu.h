#pragma once

// The SwiGLU of kernels/activation.h, lane by lane; under the rules of vec.h.

#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

static inline Vec clamped_swiglu(Vec gate, Vec up, float alpha, float limit, float up_offset) {
  const Vec one = splat(1.0F);
  gate = select_less(splat(limit), gate, splat(limit), gate);
  up = select_less(splat(limit), up, splat(limit), up);
  up = select_less(up, splat(-limit), splat(-limit), up);
  const Vec sigmoid = div(one, add(one, exp(mul(splat(-alpha), gate))));
  return mul(mul(gate, sigmoid), add(up, splat(up_offset)));
}

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
