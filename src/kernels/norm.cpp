#include "kernels/norm.h"

#include "kernels/cpu/table_internal.h"

namespace rapt {

void rms_norm(const Stream& stream, Tensor x, Tensor weight, float eps, Tensor y) {
  CHECK(x.shape() == y.shape(), x.shape().to_string(), " ", y.shape().to_string());
  CHECK(weight.num_elements() == x.size(1), weight.num_elements(), " ", x.size(1));
  const std::int64_t size = x.size(1);
  const auto row = stream.level == CpuLevel::kReference
                       ? ref::rms_norm_row
                       : cpu::kernel_table(stream.level).rms_norm_row;
  stream.pool->parallel_for(x.size(0), 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token_idx = begin; token_idx < end; ++token_idx) {
      row(x.f32() + token_idx * size, weight.f32(), eps, size, y.f32() + token_idx * size);
    }
  });
}

}  // namespace rapt
