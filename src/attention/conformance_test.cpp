// What every backend in this binary must do, whatever it is: each runs what its registry entry says
// it can. A new backend is tested by being listed (attention/registry.h).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "attention/problem_internal.h"
#include "attention/registry.h"

namespace rapt {
namespace {

constexpr int kMaxThreads = 32;
constexpr int kMaxPositions = 8192;

KVType kv_type_of(DType dtype) {
  return dtype == DType::kF32 ? KVType::kF32 : dtype == DType::kBF16 ? KVType::kBF16 : KVType::kFp8;
}

bool claims(const BackendInfo& info, const AttentionProblem& problem, AttentionSlot slot) {
  const int ratio = static_cast<int>(problem.num_heads / problem.num_kv_heads);
  return std::ranges::any_of(info.variants, [&](const KernelVariant& variant) {
    return variant.slots.contains(slot) && (variant.has_sinks || !problem.has_sinks) &&
           (variant.has_window || problem.window == 0) &&
           (variant.has_soft_cap || problem.soft_cap == 0.0F) &&
           variant.head_dims.allows(static_cast<int>(problem.head_dim)) &&
           variant.gqa_ratios.allows(ratio) &&
           variant.block_sizes.allows(static_cast<int>(problem.block_size)) &&
           std::ranges::count(variant.kv_types, kv_type_of(problem.dtype)) > 0;
  });
}

bool claims(const BackendInfo& info, const AttentionProblem& problem) {
  const auto kind = problem.window > 0 ? AttentionLayerKind::kSliding : AttentionLayerKind::kFull;
  return claims(info, problem, make_slot(AttentionPhase::kPrefill, kind)) &&
         claims(info, problem, make_slot(AttentionPhase::kDecode, kind));
}

std::vector<float> reference_of(const AttentionProblem& problem) {
  ThreadPool pool(2);
  const Stream stream{&pool, CpuLevel::kReference};
  const auto backend = make_cpu_ref_backend(2, kMaxPositions);
  return AttentionTrial(stream, problem).run(stream, *backend);
}

void expect_near(
    const std::vector<float>& actual, const std::vector<float>& expected, const std::string& what
) {
  ASSERT_EQ(actual.size(), expected.size());
  float worst = 0.0F;
  for (std::size_t idx = 0; idx < actual.size(); ++idx) {
    const float error = std::fabs(actual[idx] - expected[idx]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  // Values are around 1; what is left is rounding in another order.
  EXPECT_LE(worst, 4e-6F) << what;
}

std::vector<AttentionProblem> shapes() {
  std::vector<AttentionProblem> all;
  // Ratios that fill register tiles and ratios that do not, every head size.
  for (const std::int64_t ratio : {1, 2, 3, 5, 7, 8, 12, 16}) {
    all.push_back({.num_heads = 2 * ratio, .num_kv_heads = 2, .head_dim = 16 * (1 + ratio % 3)});
  }
  for (const std::int64_t head_dim : {80, 128, 256}) {
    all.push_back({.num_heads = 3, .num_kv_heads = 1, .head_dim = head_dim});
  }
  all.push_back({.num_heads = 3, .num_kv_heads = 3, .head_dim = 24});
  for (const std::int64_t block_size : {32, 48, 128}) {
    all.push_back({.num_heads = 2, .head_dim = 32, .block_size = block_size});
  }
  all.push_back({.num_heads = 2, .soft_cap = 2.0F});
  all.push_back({.num_heads = 2, .has_sinks = false});
  for (AttentionProblem& problem : all) {
    problem.sequences = {{1, 0, 37}, {2, 530, 1}, {3, 90, 3}};
  }
  std::vector<AttentionProblem> with_types;
  for (AttentionProblem problem : all) {
    for (const DType dtype : {DType::kBF16, DType::kF32, DType::kF8E4M3}) {
      for (const std::int64_t window : {0, 20}) {
        problem.dtype = dtype;
        problem.window = window;
        if (problem.head_dim % 4 == 0 && (window == 0 || dtype != DType::kF8E4M3)) {
          with_types.push_back(problem);
        }
      }
    }
  }
  return with_types;
}

// Lengths around the borders of groups, tiles, splits and windows.
std::vector<AttentionProblem> lengths() {
  std::vector<AttentionProblem> all;
  for (const std::int64_t window : {0, 1, 16, 127, 128, 129}) {
    for (const int num_rows : {1, 2, 7, 64}) {
      for (const int num_keys : {1, 15, 16, 17, 64, 65, 127, 128, 129, 513, 4097}) {
        for (const float sink : {1e4F, 0.5F, -1e4F, -INFINITY}) {
          if (num_keys >= num_rows && (sink == 0.5F || num_keys == 17 || num_keys == 129)) {
            all.push_back(
                {.num_heads = 2,
                 .num_kv_heads = 1,
                 .head_dim = 16,
                 .window = window,
                 .sink = sink,
                 .sequences = {{7, num_keys - num_rows, num_rows}}}
            );
          }
        }
      }
    }
  }
  return all;
}

class AttentionConformance : public ::testing::TestWithParam<const BackendInfo*> {
 protected:
  const BackendInfo& info() const { return *GetParam(); }

  std::unique_ptr<AttentionBackend> make() const {
    return info().make({kMaxThreads, kMaxPositions});
  }

  // The rows of the only sequence, computed `chunk` at a time.
  std::vector<float> run_in_chunks(
      const Stream& stream, AttentionBackend& backend, AttentionProblem problem, int chunk
  ) {
    const AttentionProblem::Sequence whole = problem.sequences.front();
    std::vector<float> all;
    for (int row = 0; row < whole.num_rows; row += chunk) {
      problem.sequences = {
          {whole.seed, whole.num_before + row, std::min(chunk, whole.num_rows - row)}};
      const auto part = AttentionTrial(stream, problem).run(stream, backend);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_P(AttentionConformance, AgreesWithTheReferenceForEveryShape) {
  ThreadPool pool(2);
  const Stream stream{&pool, best_cpu_level()};
  const auto backend = make();
  for (const AttentionProblem& problem : shapes()) {
    if (claims(info(), problem)) {
      const auto out = AttentionTrial(stream, problem).run(stream, *backend);
      expect_near(out, reference_of(problem), problem.describe());
    }
  }
}

TEST_P(AttentionConformance, AgreesWithTheReferenceForEveryLength) {
  ThreadPool pool(2);
  const Stream stream{&pool, best_cpu_level()};
  const auto backend = make();
  for (const AttentionProblem& problem : lengths()) {
    const auto out = AttentionTrial(stream, problem).run(stream, *backend);
    expect_near(out, reference_of(problem), problem.describe());
  }
}

TEST_P(AttentionConformance, HasTheSameBitsOnEveryLevel) {
  ThreadPool pool(2);
  const auto backend = make();
  std::vector<AttentionProblem> problems = shapes();
  for (const AttentionProblem& problem : lengths()) {
    const AttentionProblem::Sequence& one = problem.sequences.front();
    if (one.num_before < 140 && one.num_rows != 64 && problem.sink == 0.5F) {
      problems.push_back(problem);
    }
  }
  for (const AttentionProblem& problem : problems) {
    if (!claims(info(), problem)) {
      continue;
    }
    std::vector<float> expected;
    for (const CpuLevel level : runnable_cpu_levels()) {
      const Stream stream{&pool, level};
      const auto out = AttentionTrial(stream, problem).run(stream, *backend);
      if (expected.empty()) {
        expected = out;
      }
      ASSERT_TRUE(same_bits(out, expected)) << name_of(level) << ": " << problem.describe();
    }
  }
}

TEST_P(AttentionConformance, HasTheSameBitsForAnyNumberOfWorkers) {
  const auto backend = make();
  const AttentionProblem problem = {
      .num_heads = 2,
      .num_kv_heads = 1,
      .head_dim = 16,
      .sequences = {{1, 2100, 1}, {2, 0, 50}, {3, 700, 9}, {4, 30, 1}, {5, 4000, 1}}};
  std::vector<float> expected;
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    ThreadPool pool(num_threads);
    const Stream stream{&pool, best_cpu_level()};
    const auto out = AttentionTrial(stream, problem).run(stream, *backend);
    if (expected.empty()) {
      expected = out;
    }
    ASSERT_TRUE(same_bits(out, expected)) << num_threads << " workers";
  }
}

TEST_P(AttentionConformance, HasTheSameBitsForAnyChunkAndTypeOfKey) {
  ThreadPool pool(3);
  const Stream stream{&pool, best_cpu_level()};
  const auto backend = make();
  for (const DType dtype : {DType::kBF16, DType::kF32, DType::kF8E4M3}) {
    for (const std::int64_t window : {0, 5, 128}) {
      for (const std::int64_t num_heads : {3, 8}) {
        AttentionProblem problem = {
            .num_heads = num_heads,
            .num_kv_heads = 1,
            .head_dim = 32,
            .window = window,
            .dtype = dtype,
            .sequences = {{9, 490, 30}}};
        if ((window > 0 && dtype == DType::kF8E4M3) || !claims(info(), problem)) {
          continue;
        }
        const auto whole = run_in_chunks(stream, *backend, problem, 30);
        for (const int chunk : {1, 7, 29}) {
          ASSERT_TRUE(same_bits(whole, run_in_chunks(stream, *backend, problem, chunk)))
              << "chunk " << chunk << ": " << problem.describe() << name_of(dtype);
        }
      }
    }
  }
}

TEST_P(AttentionConformance, HasTheSameBitsAloneAndAmongSixtyFour) {
  ThreadPool pool(3);
  const Stream stream{&pool, best_cpu_level()};
  const auto backend = make();
  for (const std::int64_t window : {0, 128}) {
    AttentionProblem problem = {
        .num_heads = 4, .num_kv_heads = 1, .head_dim = 16, .window = window};
    problem.sequences.clear();
    for (int idx = 0; idx < 64; ++idx) {
      problem.sequences.push_back(
          {static_cast<std::uint32_t>(idx), idx * 37 % 1100, idx % 9 == 0 ? 1 + idx : 1}
      );
    }
    const auto together = AttentionTrial(stream, problem).run(stream, *backend);
    std::vector<float> one_by_one;
    for (const AttentionProblem::Sequence& one : problem.sequences) {
      AttentionProblem alone = problem;
      alone.sequences = {one};
      alone.blocks_in_order = true;
      const auto out = AttentionTrial(stream, alone).run(stream, *backend);
      one_by_one.insert(one_by_one.end(), out.begin(), out.end());
    }
    ASSERT_TRUE(same_bits(together, one_by_one)) << "window " << window;
  }
}

// Tensor parallelism gives each rank some heads: they are the same numbers as the whole's.
TEST_P(AttentionConformance, SlicesOfHeadsAreSlicesOfTheWhole) {
  ThreadPool pool(2);
  const Stream stream{&pool, best_cpu_level()};
  const auto backend = make();
  const AttentionProblem problem = {
      .num_heads = 16, .num_kv_heads = 8, .head_dim = 16, .sequences = {{1, 100, 3}}};
  AttentionTrial whole(stream, problem);
  const auto expected = whole.run(stream, *backend);
  for (const std::int64_t num_ranks : {1, 2, 4, 8}) {
    for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
      // The rank's own cache, q and sinks: KV heads and query heads of its part only.
      const std::int64_t num_heads = problem.num_heads / num_ranks;
      const std::int64_t num_kv_heads = problem.num_kv_heads / num_ranks;
      const std::int64_t width = num_heads * problem.head_dim;
      std::vector<float> q(static_cast<std::size_t>(whole.num_rows() * width));
      std::vector<float> wanted(q.size());
      for (std::int64_t row = 0; row < whole.num_rows(); ++row) {
        const std::int64_t from = row * problem.num_heads * problem.head_dim + rank * width;
        std::copy_n(whole.q().begin() + from, width, q.begin() + row * width);
        std::copy_n(expected.begin() + from, width, wanted.begin() + row * width);
      }
      AttentionProblem alone = problem;
      alone.num_heads = num_heads;
      alone.num_kv_heads = num_kv_heads;
      AttentionTrial trial(stream, alone);
      for (std::int64_t position = 0; position < 103; ++position) {
        for (std::int64_t head = 0; head < num_kv_heads; ++head) {
          for (const int half : {0, 1}) {
            const auto row = whole.stored(0, position, rank * num_kv_heads + head, half);
            for (std::int64_t d = 0; d < problem.head_dim; ++d) {
              trial.set_element(0, position, head, half, d, row[static_cast<std::size_t>(d)]);
            }
          }
        }
      }
      trial.set_q(q);
      trial.set_sinks(std::span(whole.sinks())
                          .subspan(
                              static_cast<std::size_t>(rank * num_heads),
                              static_cast<std::size_t>(num_heads)
                          ));
      ASSERT_TRUE(same_bits(trial.run(stream, *backend), wanted))
          << "rank " << rank << " of " << num_ranks;
    }
  }
}

TEST_P(AttentionConformance, GivesZerosWhereNothingHasAWeight) {
  ThreadPool pool(1);
  const auto backend = make();
  for (const CpuLevel level : runnable_cpu_levels()) {
    const Stream stream{&pool, level};
    for (const bool has_sinks : {false, true}) {
      for (const float sink : {0.5F, -INFINITY}) {
        AttentionProblem problem = {
            .num_heads = 4,
            .num_kv_heads = 2,
            .head_dim = 16,
            .has_sinks = has_sinks,
            .sink = sink};
        problem.sequences = {{1, 20, 1}};
        AttentionTrial trial(stream, problem);
        // q . k is -inf for every key: nothing is visible but the sink.
        for (std::int64_t position = 0; position < 21; ++position) {
          for (const std::int64_t kv_head : {0, 1}) {
            trial.set_element(0, position, kv_head, 0, 5, -INFINITY);
          }
        }
        trial.set_q(std::vector<float>(trial.q().size(), 1.0F));
        for (const float value : trial.run(stream, *backend)) {
          ASSERT_EQ(value, 0.0F) << name_of(level) << " sink " << (has_sinks ? sink : NAN);
        }
      }
    }
  }
}

TEST_P(AttentionConformance, ShowsNaNsThatARowMustSeeAndNoOthers) {
  ThreadPool pool(1);
  const auto backend = make();
  for (const CpuLevel level : runnable_cpu_levels()) {
    const Stream stream{&pool, level};
    for (const int half : {0, 1}) {
      AttentionProblem problem = {.num_heads = 12, .num_kv_heads = 4, .head_dim = 16, .window = 10};
      problem.sequences = {{1, 40, 30}};
      AttentionTrial trial(stream, problem);
      trial.set_element(0, 50, 1, half, 3, std::numeric_limits<float>::quiet_NaN());
      const auto out = trial.run(stream, *backend);
      for (std::int64_t row = 0; row < 30; ++row) {
        const std::int64_t position = 40 + row;
        const bool sees = position >= 50 && position < 60;
        for (std::int64_t head = 0; head < 12; ++head) {
          for (std::int64_t d = 0; d < 16; ++d) {
            const bool wanted = sees && head / 3 == 1 && (half == 0 || d == 3);
            const float value = out[static_cast<std::size_t>((row * 12 + head) * 16 + d)];
            ASSERT_EQ(std::isnan(value), wanted)
                << name_of(level) << " half " << half << " row " << row << " head " << head;
          }
        }
      }
    }
  }
}

TEST_P(AttentionConformance, LeavesOtherSequencesAlone) {
  ThreadPool pool(2);
  const Stream stream{&pool, best_cpu_level()};
  const auto backend = make();
  const AttentionProblem problem = {
      .num_heads = 4,
      .num_kv_heads = 2,
      .head_dim = 16,
      .sequences = {{1, 9, 2}, {2, 3, 1}, {3, 0, 4}}};
  AttentionTrial trial(stream, problem);
  const auto all = trial.run(stream, *backend);
  trial.serve({1});
  const auto some = trial.run(stream, *backend);
  for (std::size_t idx = 0; idx < all.size(); ++idx) {
    const bool is_served = idx / 64 == 2;
    ASSERT_TRUE(is_served ? some[idx] == all[idx] : std::isnan(some[idx])) << idx;
  }
}

std::vector<const BackendInfo*> built_backends() {
  std::vector<const BackendInfo*> built;
  for (const BackendInfo* info : attention_backends()) {
    if (info->make != nullptr && info->device == DeviceKind::kCpu) {
      built.push_back(info);
    }
  }
  return built;
}

INSTANTIATE_TEST_SUITE_P(
    Built,
    AttentionConformance,
    ::testing::ValuesIn(built_backends()),
    [](const auto& test) {
      std::string name(test.param->name);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    }
);

}  // namespace
}  // namespace rapt
