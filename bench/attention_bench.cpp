// The speed of attention at the shape of gpt-oss (64 query heads on 8 KV heads of 64), and what
// share of the machine's limits that is; the limits are measured between the passes.
//
//   attention_bench [--threads N] [--level L] [--backend NAME] [--case
//   decode|prefill|sliding|batch]
//                   [--keys N,...] [--kv bf16|f32|fp8] [--block N] [--passes N] [--clock wall|cpu]
//                   [--cached yes|no]
//
// Decode reads K and V from memory unless --cached yes.
// "limit" is what the call could reach: the memory's bandwidth for its K and V, or the fp32 FMA
// peak for its arithmetic, whichever takes longer. With --clock cpu all figures go by the time that
// the process had a processor, which on a busy machine says more about kernels (and little about
// memory).

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "attention/measure.h"
#include "attention/registry.h"
#include "kernels/peaks.h"

namespace rapt {
namespace {

struct Options {
  int num_threads = 2;
  CpuLevel level = best_cpu_level();
  std::string_view backend = "cpu-flash";
  std::string_view which;
  std::vector<int> keys = {1024, 8192, 32768, 131072};
  DType kv_dtype = DType::kBF16;
  int block_size = 16;
  int num_passes = 5;
  bool by_cpu_clock = false;
  bool is_cached = false;
};

double now(const Options& options) {
  if (options.by_cpu_clock) {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)) /
           options.num_threads;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(const Options& options, const ReadMeter& reader, ThreadPool& pool)
      : options_(options),
        reader_(reader),
        stream_{&pool, options.level},
        backend_(find_attention_backend(options.backend)->make({options.num_threads, 1 << 18})) {}

  void measure(const char* name, AttentionLoad load) {
    load.model = *find_attention_preset("gpt-oss-20b");
    load.kv_dtype =
        load.window > 0 && options_.kv_dtype == DType::kF8E4M3 ? DType::kBF16 : options_.kv_dtype;
    load.block_size = options_.block_size;
    const bool is_decode = load.num_rows == 1;
    const bool is_cold = is_decode && !options_.is_cached;
    AttentionMeter meter(stream_, load, is_cold ? AttentionMeter::kDefaultMinBytes : 0);
    meter.run(stream_, *backend_);
    std::vector<double> times;
    std::vector<double> shares;
    std::vector<double> peaks;
    std::vector<double> reads;
    for (int pass = 0; pass < options_.num_passes; ++pass) {
      const double gflops = timed_peak();
      const double gbps = reader_.gbps(*stream_.pool);
      const int num_runs = options_.is_cached ? 64 : 1;
      const double begin = now(options_);
      for (int run = 0; run < num_runs; ++run) {
        meter.run(stream_, *backend_);
      }
      const double seconds = (now(options_) - begin) / (meter.num_copies() * num_runs);
      const double best = std::max(load.kv_bytes() / gbps, load.flops() / gflops) * 1e-9;
      times.push_back(seconds);
      shares.push_back(best / seconds);
      peaks.push_back(gflops);
      reads.push_back(gbps);
    }
    const double seconds = median(times);
    std::printf(
        "%-8s %7d %5d %6d | %10.1f us %7.1f GFLOP/s %5.1f %% of FMA | %6.1f GB/s %5.1f %% of read "
        "| "
        "%5.1f %% of limit (peak %.0f, read %.1f)\n",
        name,
        load.num_before + load.num_rows,
        load.num_rows,
        load.num_sequences,
        seconds * 1e6,
        load.flops() / seconds * 1e-9,
        100.0 * load.flops() / seconds * 1e-9 / median(peaks),
        load.kv_bytes() / seconds * 1e-9,
        100.0 * load.kv_bytes() / seconds * 1e-9 / median(reads),
        100.0 * median(shares),
        median(peaks),
        median(reads)
    );
    std::fflush(stdout);
  }

 private:
  // The peak by the clock that is asked for.
  double timed_peak() {
    const double wall_begin =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    const double begin = now(options_);
    const double gflops = fma_gflops(*stream_.pool, options_.level);
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() -
        wall_begin;
    return gflops * wall / (now(options_) - begin);
  }

  const Options& options_;
  const ReadMeter& reader_;
  Stream stream_;
  std::unique_ptr<AttentionBackend> backend_;
};

int run(const Options& options) {
  ThreadPool pool(options.num_threads);
  const auto reader = ReadMeter::create(pool);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    return 1;
  }
  const std::string level(name_of(options.level));
  std::printf(
      "%s, %d threads, %s, KV %s, blocks of %d\n",
      level.c_str(),
      options.num_threads,
      std::string(options.backend).c_str(),
      std::string(name_of(options.kv_dtype)).c_str(),
      options.block_size
  );
  std::printf("case        keys  rows  seqs\n");
  Bench bench(options, *reader, pool);
  const auto wanted = [&](std::string_view name) {
    return options.which.empty() || options.which == name;
  };
  for (const int keys : options.keys) {
    if (wanted("decode")) {
      bench.measure("decode", {.num_before = keys - 1});
    }
  }
  for (const int keys : options.keys) {
    if (wanted("prefill") && keys <= 32768) {
      // The last 512 tokens of a prompt: a chunk as the scheduler makes them.
      bench.measure("prefill", {.num_before = keys - 512, .num_rows = 512});
    }
  }
  for (const int keys : options.keys) {
    // Sequences enough to leave the caches, which hold all their keys, must fit into memory.
    if (wanted("sliding") && keys <= 8192) {
      bench.measure("sl-dec", {.window = 128, .num_before = keys - 1});
      bench.measure("sl-pre", {.window = 128, .num_before = keys - 512, .num_rows = 512});
    }
  }
  if (wanted("batch")) {
    bench.measure("batch", {.num_sequences = 32, .num_before = 255});
    bench.measure("batch", {.num_sequences = 32, .num_before = 1023});
    bench.measure("batch", {.num_sequences = 8, .num_before = 8191});
  }
  return 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int idx = 1; idx + 1 < argc; idx += 2) {
    const std::string_view name = argv[idx];
    const std::string_view value = argv[idx + 1];
    if (name == "--threads") {
      options.num_threads = std::atoi(argv[idx + 1]);
    } else if (name == "--level") {
      for (const CpuLevel level : runnable_cpu_levels()) {
        options.level = name_of(level) == value ? level : options.level;
      }
    } else if (name == "--backend") {
      options.backend = value;
    } else if (name == "--case") {
      options.which = value;
    } else if (name == "--keys") {
      options.keys.clear();
      for (const char* text = argv[idx + 1]; *text != '\0';) {
        char* end = nullptr;
        options.keys.push_back(static_cast<int>(std::strtol(text, &end, 10)));
        text = *end == ',' ? end + 1 : end;
      }
    } else if (name == "--kv") {
      options.kv_dtype = value == "f32"   ? DType::kF32
                         : value == "fp8" ? DType::kF8E4M3
                                          : DType::kBF16;
    } else if (name == "--block") {
      options.block_size = std::atoi(argv[idx + 1]);
    } else if (name == "--passes") {
      options.num_passes = std::atoi(argv[idx + 1]);
    } else if (name == "--clock") {
      options.by_cpu_clock = value == "cpu";
    } else if (name == "--cached") {
      options.is_cached = value == "yes";
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && find_attention_backend(options.backend) != nullptr;
}

}  // namespace
}  // namespace rapt

int main(int argc, char** argv) {
  rapt::Options options;
  if (!rapt::parse(argc, argv, options)) {
    std::fprintf(stderr, "attention_bench: see the first lines of bench/attention_bench.cpp\n");
    return 2;
  }
  return rapt::run(options);
}
