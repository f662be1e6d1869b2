#include "kernels/peaks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "kernels/cpu/peaks_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const PeakTable kPeakTable;
}

namespace cpu::avx2 {
extern const PeakTable kPeakTable;
}

namespace cpu::avx512 {
extern const PeakTable kPeakTable;
}

namespace cpu::avx512vnni {
extern const PeakTable kPeakTable;
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNumPasses = 7;

const cpu::PeakTable& peak_table(CpuLevel level) {
  return *KernelBuilds<const cpu::PeakTable*>{
      .reference = &cpu::scalar::kPeakTable,
      .scalar = &cpu::scalar::kPeakTable,
      .avx2 = &cpu::avx2::kPeakTable,
      .avx512 = &cpu::avx512::kPeakTable,
      .avx512vnni = &cpu::avx512vnni::kPeakTable,
  }
              .at(level);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <typename Measure>
Peak peak_of_passes(Measure&& measure) {
  std::array<double, kNumPasses> passes{};
  measure();  // wakes the threads and the core's wide units
  for (double& pass : passes) {
    pass = measure();
  }
  std::sort(passes.begin(), passes.end());
  return Peak{.median = passes[kNumPasses / 2], .best = passes.back()};
}

// Billions of operations a second of a loop that all threads run in small pieces.
template <typename Rounds>
double rate_of_rounds(ThreadPool& pool, Rounds rounds, std::int64_t ops_per_round) {
  constexpr double kPieceSeconds = 50e-6;
  constexpr std::int64_t kPiecesPerThread = 400;
  std::int64_t piece = 256;
  double seconds = 0.0;
  while (seconds < kPieceSeconds) {
    piece *= 2;
    const Clock::time_point begin = Clock::now();
    [[maybe_unused]] const volatile auto result = rounds(piece);
    seconds = seconds_since(begin);
  }
  const std::int64_t num_pieces = kPiecesPerThread * pool.num_threads();
  const Clock::time_point begin = Clock::now();
  pool.parallel_for(num_pieces, 1, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t idx = first; idx < end; ++idx) {
      [[maybe_unused]] const volatile auto result = rounds(piece);
    }
  });
  const double ops = static_cast<double>(num_pieces * piece * ops_per_round);
  return ops / seconds_since(begin) / 1e9;
}

}  // namespace

Result<ReadMeter> ReadMeter::create(ThreadPool& pool, std::uint64_t num_bytes) {
  constexpr std::uint64_t kPiece = std::uint64_t{2} << 20;
  const std::uint64_t num_pieces = std::max<std::uint64_t>(num_bytes / kPiece, 1);
  ASSIGN_OR_RETURN(
      Buffer buffer, Buffer::allocate(num_pieces * kPiece, "a measurement of memory speed")
  );
  char* data = static_cast<char*>(buffer.data());
  pool.parallel_for(
      static_cast<std::int64_t>(num_pieces),
      1,
      [&](std::int64_t begin, std::int64_t end) {
        std::memset(
            data + static_cast<std::uint64_t>(begin) * kPiece,
            1,
            static_cast<std::uint64_t>(end - begin) * kPiece
        );
      }
  );
  return ReadMeter(std::move(buffer));
}

double ReadMeter::gbps(ThreadPool& pool) const {
  constexpr std::int64_t kPiece = std::int64_t{256} << 10;
  const auto num_bytes = static_cast<std::int64_t>(buffer_.num_bytes());
  const auto read = peak_table(best_cpu_level()).read;
  const char* data = static_cast<const char*>(buffer_.data());
  const Clock::time_point begin = Clock::now();
  pool.parallel_for(num_bytes / kPiece, 1, [&](std::int64_t first, std::int64_t end) {
    [[maybe_unused]] const volatile auto result =
        read(data + first * kPiece, (end - first) * kPiece);
  });
  return static_cast<double>(num_bytes) / seconds_since(begin) / 1e9;
}

double fma_gflops(ThreadPool& pool, CpuLevel level) {
  const cpu::PeakTable& table = peak_table(level);
  return rate_of_rounds(pool, table.fma_rounds, table.ops_fma);
}

double dot_gops(ThreadPool& pool, CpuLevel level, DotKind kind) {
  const cpu::PeakTable& table = peak_table(level);
  switch (kind) {
    case DotKind::kI16:
      return rate_of_rounds(pool, table.i16_rounds, table.ops_i16);
    case DotKind::kI8:
      return rate_of_rounds(pool, table.i8_rounds, table.ops_i8);
    case DotKind::kI8Sums16:
      break;
  }
  return rate_of_rounds(pool, table.i8_sums16_rounds, table.ops_i8_sums16);
}

Result<Peak> measure_read_gbps(ThreadPool& pool) {
  ASSIGN_OR_RETURN(const ReadMeter meter, ReadMeter::create(pool));
  return peak_of_passes([&] { return meter.gbps(pool); });
}

Peak measure_fma_gflops(ThreadPool& pool, CpuLevel level) {
  return peak_of_passes([&] { return fma_gflops(pool, level); });
}

Peak measure_dot_gops(ThreadPool& pool, CpuLevel level, DotKind kind) {
  return peak_of_passes([&] { return dot_gops(pool, level, kind); });
}

}  // namespace rapt
