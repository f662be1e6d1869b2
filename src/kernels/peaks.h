#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/stream.h"

// What this machine can do at most, measured now: the figures that benches divide by. On a shared
// machine they move by tens of per cent within minutes, so measure them between the passes of what
// is compared with them (ReadMeter, one fma or dot pass), and take medians of both.

namespace rapt {

// Which integer products are added up.
enum class DotKind {
  kI16,       // int16 x int16 to int32
  kI8,        // uint8 x int8 to int32
  kI8Sums16,  // the same, four products of a lane added in 16 bits first: for 4-bit weights
};

constexpr std::string_view name_of(DotKind kind) {
  switch (kind) {
    case DotKind::kI16:
      return "i16";
    case DotKind::kI8:
      return "i8";
    case DotKind::kI8Sums16:
      return "i8 with 16-bit sums";
  }
  return "?";
}

// One figure from several short passes.
struct Peak {
  double median = 0.0;
  double best = 0.0;
};

// A buffer too large for any cache that is read from end to end. Any thread that owns the pool.
class ReadMeter {
 public:
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{512} << 20;

  // Touches the whole buffer, which takes seconds where pages come slowly.
  static Result<ReadMeter> create(ThreadPool& pool, std::uint64_t num_bytes = kDefaultBytes);

  // One pass over the buffer by all threads of the pool: 10^9 bytes a second.
  double gbps(ThreadPool& pool) const;

 private:
  explicit ReadMeter(Buffer buffer) : buffer_(std::move(buffer)) {}

  Buffer buffer_;
};

// One pass of about 20 ms of fp32 fused multiply-adds in registers: 10^9 operations a second, two a
// multiply-add. kReference counts as kScalar.
double fma_gflops(ThreadPool& pool, CpuLevel level);

// The same for integer products, in the best instructions of the level.
double dot_gops(ThreadPool& pool, CpuLevel level, DotKind kind);

// Several passes of the above.
Result<Peak> measure_read_gbps(ThreadPool& pool);
Peak measure_fma_gflops(ThreadPool& pool, CpuLevel level);
Peak measure_dot_gops(ThreadPool& pool, CpuLevel level, DotKind kind);

}  // namespace rapt
