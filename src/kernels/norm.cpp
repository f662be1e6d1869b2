#include "kernels/norm.h"

#include "kernels/activation.h"
#include "kernels/cpu/table_internal.h"

namespace rapt {

namespace {

// `delta` may be null: nothing is added.
void norm_rows(
    const Stream& stream, Tensor x, const float* delta, Tensor weight, float eps, Tensor y
) {
  CHECK(x.shape() == y.shape(), x.shape().to_string(), " ", y.shape().to_string());
  CHECK(weight.num_elements() == x.size(1), weight.num_elements(), " ", x.size(1));
  const std::int64_t size = x.size(1);
  const bool is_reference = stream.level == CpuLevel::kReference;
  const auto norm = is_reference ? ref::rms_norm_row : cpu::kernel_table(stream.level).rms_norm_row;
  const auto add = is_reference ? ref::add_row : cpu::kernel_table(stream.level).add_row;
  stream.pool->parallel_for(x.size(0), 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin * size; at < end * size; at += size) {
      if (delta != nullptr) {
        add(delta + at, size, x.f32() + at);
      }
      norm(x.f32() + at, weight.f32(), eps, size, y.f32() + at);
    }
  });
}

}  // namespace

void rms_norm(const Stream& stream, Tensor x, Tensor weight, float eps, Tensor y) {
  norm_rows(stream, x, nullptr, weight, eps, y);
}

void add_rms_norm(
    const Stream& stream, Tensor x, Tensor delta, Tensor weight, float eps, Tensor y
) {
  CHECK(x.shape() == delta.shape(), x.shape().to_string(), " ", delta.shape().to_string());
  norm_rows(stream, x, delta.f32(), weight, eps, y);
}

}  // namespace rapt
