#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>

#include "app/bench_measure.h"
#include "app/commands.h"
#include "app/loaded_model.h"
#include "base/cpu_info.h"
#include "engine/engine.h"
#include "engine/weights/weight_keeper.h"
#include "kernels/peaks.h"
#include "quant/packed_input.h"

// `rapt bench kernels`: each kind of matrix of a model alone, on its own weights, for several
// numbers of input rows, beside the limits of the machine measured in turn with it. Layer after
// layer, so that weights come from memory as they do in a step.

namespace rapt {

namespace {

using Clock = std::chrono::steady_clock;

// Input rows spread over the matrices of a stack as tokens over experts: evenly, at random.
struct Routing {
  std::vector<std::int32_t> rows;
  std::vector<RowGroup> groups;
};

Routing route_evenly(const ModelLinear& linear, std::int64_t num_rows, std::mt19937& generator) {
  const std::int64_t num_matrices = linear.method->num_matrices();
  std::vector<std::vector<std::int32_t>> rows_of(static_cast<std::size_t>(num_matrices));
  std::vector<std::size_t> order(rows_of.size());
  for (std::size_t idx = 0; idx < order.size(); ++idx) {
    order[idx] = idx;
  }
  for (std::int64_t row = 0; row < num_rows; ++row) {
    std::shuffle(order.begin(), order.end(), generator);
    for (std::int64_t rank = 0; rank < linear.num_active; ++rank) {
      rows_of[order[static_cast<std::size_t>(rank)]].push_back(static_cast<std::int32_t>(row));
    }
  }
  Routing routing;
  for (std::size_t idx = 0; idx < rows_of.size(); ++idx) {
    if (rows_of[idx].empty()) {
      continue;
    }
    routing.groups.push_back(RowGroup{
        static_cast<std::int32_t>(idx),
        static_cast<std::int32_t>(routing.rows.size()),
        static_cast<std::int32_t>(rows_of[idx].size())});
    routing.rows.insert(routing.rows.end(), rows_of[idx].begin(), rows_of[idx].end());
  }
  return routing;
}

class KernelBench {
 public:
  KernelBench(const BenchOptions& options, ThreadPool& pool, CpuLevel level, ReadMeter meter)
      : options_(options),
        pool_(pool),
        stream_{&pool, level},
        meter_(std::move(meter)),
        workspace_(Workspace::measuring()) {}

  // The places of one kind of matrix in the layers: "moe.gate_up".
  Result<void> run(const std::string& role, const std::vector<ModelLinear>& layers, int num_rows);

  void print() const { table_.print(); }

  json::array rows;

 private:
  double time_once(const ModelLinear& linear, bool is_gate_up, const Routing& routing);
  double limit_gops(const LinearMethod& method, std::string& name) const;
  Result<void> make_room(const ModelLinear& linear, bool is_gate_up, std::int64_t num_rows);

  const BenchOptions& options_;
  ThreadPool& pool_;
  Stream stream_;
  ReadMeter meter_;
  Workspace workspace_;
  PackedInput input_;
  Tensor output_;
  BenchTable table_{
      {"matrix", "rows", "format", "ms", "GB/s", "of read", "GOP/s", "of peak", "peak"}};
};

double KernelBench::limit_gops(const LinearMethod& method, std::string& name) const {
  if (!method.reads_packed() || options_.load.engine.linear_mode == LinearMode::kF32) {
    name = "fp32 fma";
    return fma_gflops(pool_, stream_.level);
  }
  DotKind kind = DotKind::kI16;
  if (options_.load.engine.linear_mode == LinearMode::kI8) {
    kind = method.has_small_bytes() ? DotKind::kI8Sums16 : DotKind::kI8;
  }
  name = std::string(name_of(kind));
  return dot_gops(pool_, stream_.level, kind);
}

// Memory and random values for the largest input, packed as the step packs it.
Result<void> KernelBench::make_room(
    const ModelLinear& linear, bool is_gate_up, std::int64_t num_rows
) {
  const LinearMethod& method = *linear.method;
  const std::int64_t out_size = is_gate_up ? method.out_features() / 2 : method.out_features();
  const LinearMode mode = options_.load.engine.linear_mode;
  Workspace size = Workspace::measuring();
  const auto take = [&](Workspace& workspace) {
    input_.x = workspace.take_f32(Shape{num_rows, method.in_features()});
    output_ = workspace.take_f32(Shape{num_rows * linear.num_active, out_size});
  };
  take(size);
  measure_packed_input(size, num_rows, method.in_features(), mode);
  ASSIGN_OR_RETURN(Buffer memory, Buffer::allocate(size.peak_bytes(), "the kernels' inputs"));
  workspace_ = Workspace(std::move(memory));
  take(workspace_);
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::generate_n(input_.x.f32(), input_.x.num_elements(), [&] { return normal(generator); });
  input_ = method.reads_packed() ? pack_input(stream_, workspace_, input_.x, mode)
                                 : PackedInput{input_.x};
  return {};
}

double KernelBench::time_once(const ModelLinear& linear, bool is_gate_up, const Routing& routing) {
  const Clock::time_point begin = Clock::now();
  if (is_gate_up) {
    linear.method->multiply_swiglu(
        stream_, input_, routing.rows, routing.groups, ClampedSwiglu{}, output_
    );
  } else {
    linear.method->multiply(stream_, input_, routing.rows, routing.groups, output_);
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<void> KernelBench::run(
    const std::string& role, const std::vector<ModelLinear>& layers, int num_rows
) {
  const ModelLinear& first = layers.front();
  const bool is_gate_up = role.ends_with("gate_up");
  RETURN_IF_ERROR(make_room(first, is_gate_up, num_rows));
  std::mt19937 generator(static_cast<unsigned>(num_rows));
  std::vector<double> seconds;
  std::vector<double> gbps;
  std::vector<double> gops;
  std::vector<double> read_limits;
  std::vector<double> peaks;
  std::string peak_name;
  const double ops = 2.0 * static_cast<double>(first.method->in_features()) *
                     static_cast<double>(first.method->out_features()) * num_rows *
                     static_cast<double>(first.num_active);
  for (int round = 0; round < options_.repeat; ++round) {
    read_limits.push_back(meter_.gbps(pool_));
    peaks.push_back(limit_gops(*first.method, peak_name));
    for (const ModelLinear& linear : layers) {
      const Routing routing = route_evenly(linear, num_rows, generator);
      const double once = time_once(linear, is_gate_up, routing);
      const double bytes = static_cast<double>(linear.method->num_bytes()) *
                           static_cast<double>(routing.groups.size()) /
                           static_cast<double>(linear.method->num_matrices());
      seconds.push_back(once);
      gbps.push_back(bytes / once / 1e9);
      gops.push_back(ops / once / 1e9);
    }
  }
  const double read_share = median_of(gbps) / median_of(read_limits);
  const double peak_share = median_of(gops) / median_of(peaks);
  table_.add(
      {role,
       std::to_string(num_rows),
       std::string(first.method->format()),
       rounded(median_of(seconds) * 1e3, 3),
       rounded(median_of(gbps), 1),
       rounded(100.0 * read_share, 0) + " %",
       rounded(median_of(gops), 0),
       rounded(100.0 * peak_share, 0) + " %",
       peak_name}
  );
  rows.push_back(
      {{"matrix", role},
       {"rows", num_rows},
       {"format", std::string(first.method->format())},
       {"in_features", first.method->in_features()},
       {"out_features", first.method->out_features()},
       {"matrices", first.method->num_matrices()},
       {"seconds_median", median_of(seconds)},
       {"seconds_best", least_of(seconds)},
       {"gb_per_second", median_of(gbps)},
       {"read_limit_gb_per_second", median_of(read_limits)},
       {"share_of_read_limit", read_share},
       {"gop_per_second", median_of(gops)},
       {"peak", peak_name},
       {"peak_gop_per_second", median_of(peaks)},
       {"share_of_peak", peak_share}}
  );
  return {};
}

Result<void> bench_kernels(const BenchOptions& options) {
  set_log_level(options.load.log_level);
  ASSIGN_OR_RETURN(const CpuLevel level, find_cpu_level(options.load.engine));
  ASSIGN_OR_RETURN(const std::string path, find_model_folder(options.load.model));
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, load_model(path));
  ASSIGN_OR_RETURN(const auto weights, WeightKeeper::create(options.load.engine, *model));
  const int num_threads = options.load.engine.num_threads > 0 ? options.load.engine.num_threads
                                                              : detect_cpu().num_usable_cores;
  ThreadPool pool(num_threads);
  ASSIGN_OR_RETURN(ReadMeter meter, ReadMeter::create(pool));
  std::vector<std::string> roles;
  std::map<std::string, std::vector<ModelLinear>> by_role;
  for (const ModelLinear& linear : model->linears()) {
    std::string role = linear.name;
    if (role.starts_with("layers.")) {
      role.erase(0, role.find('.', std::string("layers.").size()) + 1);
    }
    if (by_role.find(role) == by_role.end()) {
      roles.push_back(role);
    }
    by_role[role].push_back(linear);
  }
  KernelBench bench(options, pool, level, std::move(meter));
  for (const std::string& role : roles) {
    for (const int num_rows : options.sequences) {
      RETURN_IF_ERROR(bench.run(role, by_role[role], num_rows));
    }
  }
  if (!options.json) {
    bench.print();
    return {};
  }
  const json::value report = {
      {"model", path},
      {"machine", describe_machine()},
      {"threads", num_threads},
      {"cpu_level", std::string(name_of(level))},
      {"linear_mode", std::string(name_of(options.load.engine.linear_mode))},
      {"prepared", weights->is_prepared()},
      {"repeat", options.repeat},
      {"matrices", bench.rows},
  };
  std::printf("%s\n", to_json_text(report).c_str());
  return {};
}

}  // namespace

int bench_kernels_main(const BenchOptions& options) {
  const Result<void> result = bench_kernels(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
