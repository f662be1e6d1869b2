// The speed of linear layers at the shapes of gpt-oss-20b (or those given), and what share of the
// machine's limits that is; the limits are measured between the passes.
//
//   linear_bench [--threads N] [--level L] [--case NAME] [--mode M] [--rows N,...] [--seconds S]
//                [--clock wall|cpu]
//
// With --clock cpu, all figures go by the time that the process had a processor, which on a busy
// machine says more about kernels (and nothing about memory).

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/peaks.h"
#include "quant/block/random_layer_internal.h"
#include "quant/registry_internal.h"

namespace rapt {
namespace {

struct Case {
  const char* name;
  const char* format;  // "mxfp4", "mxfp4-pairs", "q8_0"
  std::int64_t num_matrices;
  std::int64_t in_features;
  std::int64_t out_features;
  bool is_swiglu;
};

constexpr Case kCases[] = {
    {"gate_up", "mxfp4", 32, 2880, 5760, true},
    {"gate_up-hf", "mxfp4-pairs", 32, 2880, 5760, true},
    {"down", "mxfp4", 32, 2880, 2880, false},
    {"q", "q8_0", 12, 2880, 4096, false},
    {"k", "q8_0", 12, 2880, 512, false},
    {"out", "q8_0", 12, 4096, 2880, false},
    {"lm_head", "q8_0", 1, 2880, 201088, false},
    // Small enough for a core's cache: how fast the kernels are apart from memory.
    {"cached4", "mxfp4", 1, 2880, 512, false},
    {"cached4-hf", "mxfp4-pairs", 1, 2880, 512, false},
    {"cached8", "q8_0", 1, 2880, 256, false},
    {"cached-q4_0", "q4_0", 1, 2880, 512, false},
    {"cached-q4_1", "q4_1", 1, 2880, 512, false},
    {"cached-q5_0", "q5_0", 1, 2880, 512, false},
    {"cached-q5_1", "q5_1", 1, 2880, 512, false},
    {"cached-q4_k", "q4_k", 1, 2816, 512, false},
    {"cached-q5_k", "q5_k", 1, 2816, 512, false},
    {"cached-q6_k", "q6_k", 1, 2816, 256, false},
    // Too large for any cache.
    {"large-q4_0", "q4_0", 12, 4096, 4096, false},
    {"large-q4_1", "q4_1", 12, 4096, 4096, false},
    {"large-q5_0", "q5_0", 12, 4096, 4096, false},
    {"large-q5_1", "q5_1", 12, 4096, 4096, false},
    {"large-q4_k", "q4_k", 12, 4096, 4096, false},
    {"large-q5_k", "q5_k", 12, 4096, 4096, false},
    {"large-q6_k", "q6_k", 12, 4096, 4096, false},
    // The shapes of SmolLM2-135M.
    {"small-gate_up", "q4_1", 30, 576, 3072, true},
    {"small-down", "q4_1", 30, 1536, 576, false},
};

constexpr int kTopK = 4;

struct Options {
  int num_threads = 2;
  CpuLevel level = best_cpu_level();
  std::string_view name;
  std::optional<LinearMode> mode;
  std::vector<std::int64_t> rows = {1, 8, 32, 512, 2048};
  double seconds = 1.0;
  bool goes_by_cpu_time = false;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs `body` and returns its seconds by the clock of `options`.
template <typename Body>
double timed(const Options& options, const Body& body) {
  if (!options.goes_by_cpu_time) {
    const double start = now();
    body();
    return now() - start;
  }
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  body();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  const auto nanoseconds =
      (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec;
  return static_cast<double>(nanoseconds) * 1e-9 / options.num_threads;
}

// A figure per second of the wall clock as one per second of the clock of `options`.
template <typename Figure>
double peak(const Options& options, const Figure& figure) {
  const double start = now();
  double value = 0.0;
  const double seconds = timed(options, [&] { value = figure(); });
  return value * (now() - start) / seconds;
}

template <typename Value>
Value median(std::vector<Value> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// A layer with random weights, and its prepared copy.
struct Layer {
  RandomLayer weights;
  Buffer pieces;
  BlockLinear* linear = nullptr;
};

// The layout of that name, or null.
const BlockFormat* find_layout(std::string_view name) {
  for (const WeightFormat& family : weight_formats()) {
    for (const BlockFormat& format : family.blocks) {
      if (format.layout_name == name) {
        return &format;
      }
    }
  }
  return nullptr;
}

Layer make_layer(const Case& c) {
  const BlockFormat& format = *find_layout(c.format);
  Layer layer;
  // As in GGUF files, gate and up lie apart.
  layer.weights = *make_random_layer(
      format,
      {.num_matrices = c.num_matrices,
       .out_features = c.out_features,
       .in_features = c.in_features,
       .is_split = c.is_swiglu && format.is_in_gguf,
       .has_bias = true}
  );
  layer.linear = layer.weights.linear.get();
  const std::int64_t piece_bytes = layer.linear->prepared_piece_bytes();
  const std::int64_t num_pieces = layer.linear->num_prepared_pieces();
  layer.pieces =
      *Buffer::allocate(static_cast<std::uint64_t>(num_pieces * piece_bytes), "prepared copy");
  for (std::int64_t piece = 0; piece < num_pieces; ++piece) {
    layer.linear->write_prepared(
        piece, static_cast<std::byte*>(layer.pieces.data()) + piece * piece_bytes
    );
  }
  return layer;
}

// Rows of one multiply: all through one matrix, or each through kTopK of the experts.
struct Work {
  std::vector<RowGroup> groups;
  std::vector<std::int32_t> input_rows;
  std::int64_t num_rows = 0;
};

Work make_work(const Case& c, std::int64_t num_tokens, std::mt19937& generator) {
  Work work;
  if (c.num_matrices != 32) {
    const auto matrix = static_cast<std::int32_t>(generator() % c.num_matrices);
    work.groups.push_back({matrix, 0, static_cast<std::int32_t>(num_tokens)});
    work.num_rows = num_tokens;
    return work;
  }
  std::vector<std::vector<std::int32_t>> chosen(32);
  for (std::int64_t token = 0; token < num_tokens; ++token) {
    std::vector<std::size_t> experts(32);
    for (std::size_t idx = 0; idx < 32; ++idx) {
      experts[idx] = idx;
    }
    std::shuffle(experts.begin(), experts.end(), generator);
    for (int rank = 0; rank < kTopK; ++rank) {
      chosen[experts[static_cast<std::size_t>(rank)]].push_back(static_cast<std::int32_t>(token));
    }
  }
  for (std::int32_t expert = 0; expert < 32; ++expert) {
    const auto& tokens = chosen[static_cast<std::size_t>(expert)];
    if (!tokens.empty()) {
      work.groups.push_back(
          {expert,
           static_cast<std::int32_t>(work.num_rows),
           static_cast<std::int32_t>(tokens.size())}
      );
      work.input_rows.insert(work.input_rows.end(), tokens.begin(), tokens.end());
      work.num_rows += static_cast<std::int64_t>(tokens.size());
    }
  }
  return work;
}

void measure(
    const Options& options,
    const Case& c,
    Layer& layer,
    const ReadMeter& meter,
    ThreadPool& pool,
    LinearMode mode,
    std::int64_t num_tokens,
    bool is_prepared
) {
  const Stream stream = {&pool, options.level};
  layer.linear->use_prepared(
      is_prepared ? static_cast<const std::byte*>(layer.pieces.data()) : nullptr
  );
  std::mt19937 generator(5);
  const std::int64_t width = c.out_features / (c.is_swiglu ? 2 : 1);
  const std::int64_t max_rows = c.num_matrices == 32 ? num_tokens * kTopK : num_tokens;
  std::vector<float> x(static_cast<std::size_t>(num_tokens * c.in_features));
  for (float& value : x) {
    value = std::normal_distribution<float>()(generator);
  }
  std::vector<float> y(static_cast<std::size_t>(max_rows * width));
  Workspace workspace(*Buffer::allocate(
      static_cast<std::uint64_t>(num_tokens * packed_row_bytes(c.in_features, mode) + 64), "packed"
  ));
  const Tensor x_rows(x.data(), DType::kF32, Shape{num_tokens, c.in_features});
  PackedInput input;
  double pack_ms = 1e9;
  for (int pass = 0; pass < 5; ++pass) {
    workspace.rewind(0);
    const double seconds =
        timed(options, [&] { input = pack_input(stream, workspace, x_rows, mode); });
    pack_ms = std::min(pack_ms, seconds * 1e3);
  }

  const DotKind kind = mode == LinearMode::kI16          ? DotKind::kI16
                       : layer.linear->has_small_bytes() ? DotKind::kI8Sums16
                                                         : DotKind::kI8;
  std::vector<double> gops;
  std::vector<double> gbps;
  std::vector<double> read_peaks;
  std::vector<double> dot_peaks;
  double spent = 0.0;
  while (spent < options.seconds || gops.size() < 3) {
    const Work work = make_work(c, num_tokens, generator);
    const Tensor out(y.data(), DType::kF32, Shape{work.num_rows, width});
    const double seconds = timed(options, [&] {
      if (c.is_swiglu) {
        layer.linear->multiply_swiglu(
            stream, input, work.input_rows, work.groups, ClampedSwiglu{}, out
        );
      } else {
        layer.linear->multiply(stream, input, work.input_rows, work.groups, out);
      }
    });
    spent += seconds;
    const double bytes = static_cast<double>(layer.linear->num_bytes()) /
                         static_cast<double>(c.num_matrices) *
                         static_cast<double>(work.groups.size());
    const double operations = 2.0 * static_cast<double>(work.num_rows) *
                              static_cast<double>(c.in_features) *
                              static_cast<double>(c.out_features);
    gops.push_back(operations / seconds * 1e-9);
    gbps.push_back(bytes / seconds * 1e-9);
    if (read_peaks.size() < 3) {
      read_peaks.push_back(peak(options, [&] { return meter.gbps(pool); }));
      dot_peaks.push_back(peak(options, [&] { return dot_gops(pool, options.level, kind); }));
    }
  }
  const double read_peak = *std::max_element(read_peaks.begin(), read_peaks.end());
  const double dot_peak = *std::max_element(dot_peaks.begin(), dot_peaks.end());
  std::printf(
      "%-11s %-3s %-8s %5ld rows  %8.1f GOP/s %4.0f %% of %5.0f   %6.1f GB/s %4.0f %% of %4.0f   "
      "best %7.1f GOP/s %5.1f GB/s  pack %.2f ms\n",
      c.name,
      std::string(name_of(mode)).c_str(),
      is_prepared ? "prepared" : "in place",
      static_cast<long>(num_tokens),
      median(gops),
      100.0 * median(gops) / dot_peak,
      dot_peak,
      median(gbps),
      100.0 * median(gbps) / read_peak,
      read_peak,
      *std::max_element(gops.begin(), gops.end()),
      *std::max_element(gbps.begin(), gbps.end()),
      pack_ms
  );
  std::fflush(stdout);
}

bool parse(int argc, char** argv, Options& options) {
  for (int idx = 1; idx + 1 < argc; idx += 2) {
    const std::string_view flag = argv[idx];
    const std::string_view value = argv[idx + 1];
    if (flag == "--threads") {
      options.num_threads = std::atoi(argv[idx + 1]);
    } else if (flag == "--level") {
      bool found = false;
      for (const CpuLevel level : runnable_cpu_levels()) {
        if (name_of(level) == value) {
          options.level = level;
          found = true;
        }
      }
      if (!found) {
        return false;
      }
    } else if (flag == "--case") {
      options.name = value;
    } else if (flag == "--mode") {
      options.mode = find_linear_mode(value);
      if (!options.mode) {
        return false;
      }
    } else if (flag == "--seconds") {
      options.seconds = std::atof(argv[idx + 1]);
    } else if (flag == "--clock") {
      options.goes_by_cpu_time = value == "cpu";
    } else if (flag == "--rows") {
      options.rows.clear();
      for (const char* p = argv[idx + 1]; *p != '\0'; p += *p == ',') {
        char* end = nullptr;
        options.rows.push_back(std::strtol(p, &end, 10));
        if (end == p || options.rows.back() < 1) {
          return false;
        }
        p = end;
      }
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && options.num_threads >= 1;
}

int bench_main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: linear_bench [--threads N] [--level L] [--case NAME] [--mode i16|i8|f32] "
        "[--rows N,...] [--seconds S] [--clock wall|cpu]\n"
    );
    return 2;
  }
  ThreadPool pool(options.num_threads);
  const auto meter = ReadMeter::create(pool);
  if (!meter) {
    std::fprintf(stderr, "%s\n", meter.error().message.c_str());
    return 1;
  }
  std::printf(
      "level %s, %d threads\n", std::string(name_of(options.level)).c_str(), options.num_threads
  );
  for (const Case& c : kCases) {
    if ((!options.name.empty() && options.name != c.name) || find_layout(c.format) == nullptr) {
      continue;
    }
    Layer layer = make_layer(c);
    for (const std::int64_t num_tokens : options.rows) {
      for (const LinearMode mode : {LinearMode::kI16, LinearMode::kI8}) {
        if (options.mode && *options.mode != mode) {
          continue;
        }
        for (const bool is_prepared : {false, true}) {
          measure(options, c, layer, *meter, pool, mode, num_tokens, is_prepared);
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace rapt

int main(int argc, char** argv) {
  return rapt::bench_main(argc, argv);
}
