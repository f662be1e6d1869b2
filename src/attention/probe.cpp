#include "attention/probe.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "attention/backend.h"
#include "attention/problem_internal.h"

namespace rapt {

namespace {

constexpr int kMaxPositions = 8192;
// Stands for NaN and infinity in reports.
constexpr double kNotANumber = 1e9;

DType dtype_of(KVType type) {
  switch (type) {
    case KVType::kF32:
      return DType::kF32;
    case KVType::kFp8:
      return DType::kF8E4M3;
    case KVType::kBF16:
      break;
  }
  return DType::kBF16;
}

// The model's shape with two KV heads: enough to see one taken for the other.
AttentionProblem base_problem(const ProbeSetting& setting, AttentionSlot slot) {
  const AttentionModel& model = setting.model;
  const bool is_sliding = layer_kind_of(slot) == AttentionLayerKind::kSliding;
  AttentionProblem problem;
  problem.num_kv_heads = std::min(2, model.num_kv_heads);
  problem.num_heads = problem.num_kv_heads * model.gqa_ratio();
  problem.head_dim = model.head_dim;
  problem.window = is_sliding ? model.window : 0;
  problem.soft_cap = model.has_soft_cap ? 30.0F : 0.0F;
  problem.has_sinks = model.has_sinks;
  problem.dtype = dtype_of(setting.kv_type);
  if (is_sliding && problem.dtype == DType::kF8E4M3) {
    problem.dtype = DType::kBF16;
  }
  problem.block_size = setting.block_size > 0 ? setting.block_size : 16;
  return problem;
}

std::vector<AttentionProblem> quick_problems(const ProbeSetting& setting, AttentionSlot slot) {
  const bool is_decode = phase_of(slot) == AttentionPhase::kDecode;
  std::vector<AttentionProblem> all;
  const auto add = [&](int num_keys, int num_rows, float sink) {
    AttentionProblem problem = base_problem(setting, slot);
    problem.sink = sink;
    problem.sequences = {{7, std::max(num_keys - num_rows, 0), num_rows}};
    all.push_back(std::move(problem));
  };
  const int num_rows = is_decode ? 1 : 2;
  const int window = static_cast<int>(base_problem(setting, slot).window);
  const int edge = window > 0 ? std::min(window, 512) : 128;
  add(num_rows, num_rows, 0.5F);
  add(17, num_rows, 9.0F);
  add(edge, num_rows, -INFINITY);
  add(edge + 1, num_rows, 3.0F);
  if (window == 0) {
    // Past the border of a split, at a fraction of the price: one KV head.
    add(530, num_rows, 2.0F);
    all.back().num_heads /= all.back().num_kv_heads;
    all.back().num_kv_heads = 1;
  }
  return all;
}

std::vector<AttentionProblem> full_problems(const ProbeSetting& setting, AttentionSlot slot) {
  const bool is_sliding = layer_kind_of(slot) == AttentionLayerKind::kSliding;
  const std::vector<int> rows =
      phase_of(slot) == AttentionPhase::kDecode ? std::vector{1} : std::vector{2, 7, 64};
  const std::vector<int> windows = is_sliding ? std::vector{127, 128, 129} : std::vector{0};
  const std::vector<float> sinks =
      setting.model.has_sinks ? std::vector{1e4F, 0.5F, -1e4F, -INFINITY} : std::vector{0.0F};
  std::vector<AttentionProblem> all;
  for (const int window : windows) {
    for (const int num_rows : rows) {
      for (const int num_keys : {1, 15, 16, 17, 127, 128, 129, 600, 4097}) {
        for (const float sink : sinks) {
          // Long ones cost time in the reference, and the sink is a matter of the end.
          if (num_keys < num_rows || (num_keys == 4097 && sink != 0.5F && sink != 0.0F)) {
            continue;
          }
          AttentionProblem problem = base_problem(setting, slot);
          problem.window = window;
          problem.sink = sink;
          problem.sequences = {{7, num_keys - num_rows, num_rows}};
          all.push_back(std::move(problem));
        }
      }
    }
  }
  return all;
}

double max_error_of(const std::vector<float>& actual, const std::vector<float>& expected) {
  double worst = 0.0;
  for (std::size_t idx = 0; idx < actual.size(); ++idx) {
    const double error =
        std::fabs(static_cast<double>(actual[idx]) - static_cast<double>(expected[idx]));
    worst = std::isfinite(error) ? std::max(worst, error) : kNotANumber;
  }
  return worst;
}

}  // namespace

ProbeReport probe_attention(
    const Stream& stream,
    const BackendInfo& backend,
    const KernelVariant& variant,
    AttentionSlot slot,
    const ProbeSetting& setting
) {
  CHECK(backend.make != nullptr && variant.slots.contains(slot), backend.name);
  const AttentionBackendOptions options = {stream.pool->num_threads(), kMaxPositions};
  const std::unique_ptr<AttentionBackend> probed = backend.make(options);
  const auto reference = make_cpu_ref_backend(options.num_threads, options.max_positions);
  ProbeReport report;
  report.limit = kProbeLimit;
  for (const AttentionProblem& problem : setting.extent == ProbeExtent::kQuick
                                             ? quick_problems(setting, slot)
                                             : full_problems(setting, slot)) {
    AttentionTrial trial(stream, problem);
    ++report.num_cases;
    double error = kNotANumber;
    if (probed->supports(trial.spec())) {
      error = max_error_of(trial.run(stream, *probed), trial.run(stream, *reference));
    }
    report.num_passed += error <= report.limit ? 1 : 0;
    if (error > report.max_error) {
      report.max_error = error;
      report.worst_case = problem.describe();
    }
  }
  if (report.passed()) {
    report.worst_case.clear();
  }
  return report;
}

}  // namespace rapt
