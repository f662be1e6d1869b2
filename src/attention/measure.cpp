#include "attention/measure.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "attention/problem_internal.h"

namespace rapt {

namespace {

// Calls body(number of visible keys) for each row of a sequence.
template <typename Body>
void each_row(const AttentionLoad& load, Body body) {
  for (int row = 0; row < load.num_rows; ++row) {
    const int num_keys = load.num_before + row + 1;
    body(load.window > 0 ? std::min(num_keys, load.window) : num_keys);
  }
}

}  // namespace

double AttentionLoad::kv_bytes() const {
  const int num_keys = num_before + num_rows;
  const int first_key = window > 0 ? std::max(num_before + 1 - window, 0) : 0;
  return 2.0 * num_sequences * (num_keys - first_key) * model.num_kv_heads * model.head_dim *
         size_of(kv_dtype);
}

double AttentionLoad::flops() const {
  double num_pairs = 0.0;
  each_row(*this, [&](int num_keys) { num_pairs += num_keys; });
  return 4.0 * num_sequences * num_pairs * model.num_heads * model.head_dim;
}

struct AttentionMeter::Impl {
  Impl(const Stream& stream, const AttentionProblem& problem, std::vector<std::vector<int>> served)
      : trial(stream, problem), copies(std::move(served)) {}

  AttentionTrial trial;
  std::vector<std::vector<std::int32_t>> copies;  // the sequences of each
};

AttentionMeter::AttentionMeter(
    const Stream& stream, const AttentionLoad& load, std::uint64_t min_bytes
) {
  AttentionProblem problem = {
      .num_heads = load.model.num_heads,
      .num_kv_heads = load.model.num_kv_heads,
      .head_dim = load.model.head_dim,
      .window = load.window,
      .soft_cap = load.model.has_soft_cap ? 30.0F : 0.0F,
      .has_sinks = load.model.has_sinks,
      .dtype = load.kv_dtype,
      .block_size = load.block_size,
  };
  constexpr int kMaxCopies = 1024;
  const int num_copies = static_cast<int>(
      std::clamp(static_cast<double>(min_bytes) / load.kv_bytes(), 1.0, 1.0 * kMaxCopies)
  );
  std::vector<std::vector<std::int32_t>> copies;
  problem.sequences.clear();
  for (int copy = 0; copy < num_copies; ++copy) {
    copies.emplace_back();
    for (int idx = 0; idx < load.num_sequences; ++idx) {
      copies.back().push_back(static_cast<std::int32_t>(problem.sequences.size()));
      problem.sequences.push_back({static_cast<std::uint32_t>(idx), load.num_before, load.num_rows}
      );
    }
  }
  impl_ = std::make_unique<Impl>(stream, problem, std::move(copies));
}

AttentionMeter::~AttentionMeter() = default;

void AttentionMeter::run(const Stream& stream, AttentionBackend& backend) {
  for (const std::vector<std::int32_t>& copy : impl_->copies) {
    impl_->trial.serve(copy);
    impl_->trial.run_again(stream, backend);
  }
}

int AttentionMeter::num_copies() const {
  return static_cast<int>(impl_->copies.size());
}

double AttentionMeter::seconds_per_call(
    const Stream& stream, AttentionBackend& backend, double seconds
) {
  using Clock = std::chrono::steady_clock;
  run(stream, backend);
  std::vector<double> passes;
  double sum = 0.0;
  while (passes.size() < 3 || sum < seconds) {
    const Clock::time_point begin = Clock::now();
    run(stream, backend);
    passes.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    sum += passes.back();
  }
  std::nth_element(
      passes.begin(), passes.begin() + static_cast<long>(passes.size() / 2), passes.end()
  );
  return passes[passes.size() / 2] / num_copies();
}

}  // namespace rapt
