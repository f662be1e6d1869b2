#include "kernels/embedding.h"

#include <cstring>

#include "tensor/float_bits.h"

namespace rapt {

void convert_to_f32(Tensor from, float* to) {
  const std::int64_t count = from.num_elements();
  switch (from.dtype()) {
    case DType::kF32:
      std::memcpy(to, from.raw(), static_cast<std::size_t>(count) * sizeof(float));
      return;
    case DType::kBF16:
    case DType::kF16: {
      const auto* bits = static_cast<const std::uint16_t*>(from.raw());
      for (std::int64_t idx = 0; idx < count; ++idx) {
        to[idx] = from.dtype() == DType::kBF16 ? bf16_to_f32(bits[idx]) : f16_to_f32(bits[idx]);
      }
      return;
    }
    default:
      CHECK(false, "not a float type: ", name_of(from.dtype()));
  }
}

void embed(
    const Stream& stream, Tensor table, std::span<const std::int32_t> token_ids, Tensor out
) {
  const auto num_tokens = static_cast<std::int64_t>(token_ids.size());
  const std::int64_t hidden_size = table.size(1);
  CHECK(out.shape() == (Shape{num_tokens, hidden_size}), out.shape().to_string());
  stream.pool->parallel_for(num_tokens, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token_idx = begin; token_idx < end; ++token_idx) {
      const std::int32_t id = token_ids[static_cast<std::size_t>(token_idx)];
      CHECK(id >= 0 && id < table.size(0), "token id ", id, " of ", table.size(0));
      convert_to_f32(table.rows(id, 1), out.f32() + token_idx * hidden_size);
    }
  });
}

}  // namespace rapt
