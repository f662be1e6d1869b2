#pragma once

#include <cstdint>

namespace rapt::cpu {

// Loops that keep one unit of the core busy. Each returns something that depends on all it did, so
// that no compiler drops it.
struct PeakTable {
  // Operations of one round, two a multiply-add.
  std::int64_t ops_fma;
  std::int64_t ops_i16;
  std::int64_t ops_i8;
  std::int64_t ops_i8_sums16;
  float (*fma_rounds)(std::int64_t num_rounds);
  std::int32_t (*i16_rounds)(std::int64_t num_rounds);
  std::int32_t (*i8_rounds)(std::int64_t num_rounds);
  std::int32_t (*i8_sums16_rounds)(std::int64_t num_rounds);
  // Reads `num_bytes` (a multiple of 256) from a 64-byte boundary on.
  std::int32_t (*read)(const void* data, std::int64_t num_bytes);
};

}  // namespace rapt::cpu
