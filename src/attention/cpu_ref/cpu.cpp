#include "attention/cpu_ref/kernel_internal.h"
#include "kernels/cpu/vec.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

template <bool kBF16>
Vec load_kv(const void* data, int64_t idx, int64_t count) {
  if constexpr (kBF16) {
    const uint16_t* bits = static_cast<const uint16_t*>(data) + idx;
    if (count >= kLanes) {
      return load_bf16(bits);
    }
    uint16_t some[kLanes] = {};
    __builtin_memcpy(some, bits, sizeof(uint16_t) * static_cast<uint64_t>(count));
    return load_bf16(some);
  } else {
    const float* values = static_cast<const float*>(data) + idx;
    return count >= kLanes ? load(values) : load_first(values, count);
  }
}

Vec load_some(const float* p, int64_t count) {
  return count >= kLanes ? load(p) : load_first(p, count);
}

float soft_capped(float score, float cap) {
  const float x = score / cap;
  float e[kLanes];
  store(e, exp(splat(-2.0F * __builtin_fabsf(x))));
  return cap * __builtin_copysignf((1.0F - e[0]) / (1.0F + e[0]), x);
}

template <bool kBF16>
void attend(const AttendRow& row) {
  const int64_t first = row.first_position;
  float max_score = row.sink != nullptr ? *row.sink : -__builtin_inff();
  for (int64_t j = first; j < row.end_position; ++j) {
    const int64_t offset = offset_of(row, j);
    Vec dot = splat(0.0F);
    for (int64_t d = 0; d < row.head_dim; d += kLanes) {
      const int64_t count = row.head_dim - d;
      dot = fma(load_some(row.q + d, count), load_kv<kBF16>(row.k, offset + d, count), dot);
    }
    float score = sum_lanes(dot) * row.scale;
    if (row.soft_cap > 0.0F) {
      score = soft_capped(score, row.soft_cap);
    }
    row.scores[j - first] = score;
    max_score = max_score < score ? score : max_score;
  }
  // The partial sums go by absolute position, so the first and the last lanes may be half filled.
  float sums[kLanes] = {};
  for (int64_t j = first; j < row.end_position;) {
    const int64_t lane = j % kLanes;
    const int64_t left = row.end_position - j;
    const int64_t count = left < kLanes - lane ? left : kLanes - lane;
    float* scores = row.scores + (j - first);
    float weights[kLanes];
    store(weights, exp(sub(load_some(scores, count), splat(max_score))));
    for (int64_t idx = 0; idx < count; ++idx) {
      scores[idx] = weights[idx];
      sums[lane + idx] = __builtin_fmaf(weights[idx], 1.0F, sums[lane + idx]);
    }
    j += count;
  }
  float sum = sum_lanes(load(sums));
  if (row.sink != nullptr) {
    float sink[kLanes];
    store(sink, exp(splat(*row.sink - max_score)));
    sum += sink[0];
  }
  for (int64_t d = 0; d < row.head_dim; d += kLanes) {
    const int64_t count = row.head_dim - d < kLanes ? row.head_dim - d : kLanes;
    Vec value = splat(0.0F);
    for (int64_t j = first; j < row.end_position; ++j) {
      const Vec v = load_kv<kBF16>(row.v, offset_of(row, j) + d, count);
      value = fma(splat(row.scores[j - first]), v, value);
    }
    store_first(row.out + d, div(value, splat(sum)), count);
  }
}

void attend_any(const AttendRow& row) {
  if (row.is_bf16) {
    attend<true>(row);
  } else {
    attend<false>(row);
  }
}

}  // namespace

extern const AttendKernel kAttend;
const AttendKernel kAttend = attend_any;

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
