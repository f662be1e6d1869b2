#include "kernels/activation.h"

#include "kernels/cpu/table_internal.h"
#include "kernels/math.h"

namespace rapt {

void clamped_swiglu_row(
    CpuLevel level, const float* gate_up, ClampedSwiglu params, std::int64_t size, float* y
) {
  const auto row =
      level == CpuLevel::kReference ? ref::swiglu_row : cpu::kernel_table(level).swiglu_row;
  row(gate_up, params.alpha, params.limit, params.up_offset, size, y);
}

void add_in_place(const Stream& stream, Tensor x, Tensor y) {
  CHECK(x.shape() == y.shape(), x.shape().to_string(), " ", y.shape().to_string());
  const auto add =
      stream.level == CpuLevel::kReference ? ref::add_row : cpu::kernel_table(stream.level).add_row;
  constexpr std::int64_t kPiece = std::int64_t{1} << 15;
  stream.pool->parallel_for(x.num_elements(), kPiece, [&](std::int64_t begin, std::int64_t end) {
    add(y.f32() + begin, end - begin, x.f32() + begin);
  });
}

void exp_shifted(const Stream& stream, const float* x, float shift, std::int64_t size, float* y) {
  if (stream.level == CpuLevel::kReference) {
    for (std::int64_t idx = 0; idx < size; ++idx) {
      y[idx] = math::exp(x[idx] - shift);
    }
  } else {
    cpu::kernel_table(stream.level).exp_row(x, shift, size, y);
  }
}

}  // namespace rapt
