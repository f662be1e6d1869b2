#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "attention/backend.h"
#include "tensor/float_bits.h"

namespace rapt {
namespace {

constexpr std::int64_t kBlockSize = 16;

struct Problem {
  std::int64_t num_heads = 4;
  std::int64_t num_kv_heads = 2;
  std::int64_t head_dim = 16;
  std::int64_t window = 0;
  bool has_sinks = true;
  float sink = 0.5F;
  float soft_cap = 0.0F;
  DType dtype = DType::kF32;
  int num_positions = 40;
};

std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = normal(generator);
  }
  return values;
}

Tensor view(std::vector<float>& data, Shape shape) {
  return Tensor(data.data(), DType::kF32, shape);
}

// One sequence's q, k and v, computed in chunks through a cache whose unused slots hold NaN.
class Sequence {
 public:
  explicit Sequence(const Problem& problem)
      : problem_(problem),
        q_(random_values(problem.num_positions * problem.num_heads * problem.head_dim, 1)),
        k_(random_values(problem.num_positions * problem.num_kv_heads * problem.head_dim, 2)),
        v_(random_values(problem.num_positions * problem.num_kv_heads * problem.head_dim, 3)),
        sinks_(static_cast<std::size_t>(problem.num_heads), problem.sink) {}

  // `block_order` turns the order of the blocks around, which may not matter.
  std::vector<float> run(CpuLevel level, int num_threads, int chunk_size, bool block_order) {
    const Problem& p = problem_;
    ThreadPool pool(num_threads);
    const Stream stream{&pool, level};
    const int num_blocks = p.num_positions / static_cast<int>(kBlockSize) + 3;
    KVCache cache = *KVCache::create(
        {KVGroupLayout{1, num_blocks, p.num_kv_heads, p.head_dim, p.dtype}}, kBlockSize
    );
    const KVLayerView layer = cache.layer(0, 0);
    std::memset(layer.k, 0xFF, cache.num_bytes());  // NaN in both types
    std::vector<std::int32_t> table;
    for (int block = 0; block < num_blocks; ++block) {
      table.push_back(block_order ? block : num_blocks - 1 - block);
    }
    const auto backend = make_cpu_ref_backend(num_threads, p.num_positions);
    std::vector<float> out(q_.size());
    for (int first = 0; first < p.num_positions; first += chunk_size) {
      const int count = std::min(chunk_size, p.num_positions - first);
      AttentionMetadata metadata;
      metadata.num_sequences = 1;
      metadata.num_tokens = count;
      metadata.sequences.push_back({0, count, first, {table}});
      metadata.sequence_of_row.assign(static_cast<std::size_t>(count), 0);
      const AttentionSpec spec = {
          .num_heads = p.num_heads,
          .num_kv_heads = p.num_kv_heads,
          .head_dim = p.head_dim,
          .window = p.window,
          .scale = 1.0F / std::sqrt(static_cast<float>(p.head_dim)),
          .soft_cap = p.soft_cap,
          .sinks = p.has_sinks ? Sinks::of(sinks_) : Sinks::none(),
      };
      const Shape heads{p.num_positions, p.num_heads, p.head_dim};
      const Shape kv_heads{p.num_positions, p.num_kv_heads, p.head_dim};
      write_kv(
          stream,
          layer,
          metadata,
          0,
          view(k_, kv_heads).rows(first, count),
          view(v_, kv_heads).rows(first, count)
      );
      backend->run(
          stream,
          spec,
          layer,
          metadata,
          std::vector<std::int32_t>{0},
          view(q_, heads).rows(first, count),
          view(out, heads).rows(first, count)
      );
    }
    return out;
  }

  // The textbook formula in double.
  std::vector<double> exact() const {
    const Problem& p = problem_;
    std::vector<double> out(q_.size());
    const auto stored = [&](float x) {
      return static_cast<double>(p.dtype == DType::kF32 ? x : bf16_to_f32(f32_to_bf16(x)));
    };
    for (std::int64_t position = 0; position < p.num_positions; ++position) {
      for (std::int64_t head = 0; head < p.num_heads; ++head) {
        const std::int64_t kv_head = head / (p.num_heads / p.num_kv_heads);
        const std::int64_t first =
            p.window > 0 ? std::max<std::int64_t>(0, position - p.window + 1) : 0;
        std::vector<double> scores;
        double max_score = p.has_sinks ? p.sink : -INFINITY;
        for (std::int64_t j = first; j <= position; ++j) {
          double dot = 0;
          for (std::int64_t d = 0; d < p.head_dim; ++d) {
            dot += static_cast<double>(at(q_, position, p.num_heads, head, d)) *
                   stored(at(k_, j, p.num_kv_heads, kv_head, d));
          }
          double score = dot / std::sqrt(static_cast<double>(p.head_dim));
          if (p.soft_cap > 0.0F) {
            score = p.soft_cap * std::tanh(score / p.soft_cap);
          }
          scores.push_back(score);
          max_score = std::max(max_score, scores.back());
        }
        double sum = p.has_sinks ? std::exp(p.sink - max_score) : 0.0;
        for (double& score : scores) {
          score = std::exp(score - max_score);
          sum += score;
        }
        for (std::int64_t d = 0; d < p.head_dim; ++d) {
          double value = 0;
          for (std::int64_t j = first; j <= position; ++j) {
            value += scores[static_cast<std::size_t>(j - first)] *
                     stored(at(v_, j, p.num_kv_heads, kv_head, d));
          }
          out[static_cast<std::size_t>((position * p.num_heads + head) * p.head_dim + d)] =
              value / sum;
        }
      }
    }
    return out;
  }

 private:
  float at(
      const std::vector<float>& data,
      std::int64_t position,
      std::int64_t num_heads,
      std::int64_t head,
      std::int64_t d
  ) const {
    return data[static_cast<std::size_t>((position * num_heads + head) * problem_.head_dim + d)];
  }

  Problem problem_;
  std::vector<float> q_;
  std::vector<float> k_;
  std::vector<float> v_;
  std::vector<float> sinks_;
};

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const std::int64_t window : {0, 1, 3, 16, 17, 128}) {
      all.push_back({.window = window, .dtype = dtype});
    }
    all.push_back({.num_heads = 8, .num_kv_heads = 1, .head_dim = 64, .dtype = dtype});
    all.push_back({.num_heads = 3, .num_kv_heads = 3, .head_dim = 24, .dtype = dtype});
    all.push_back({.has_sinks = false, .dtype = dtype});
    all.push_back({.sink = 30.0F, .dtype = dtype});
    all.push_back({.sink = -1e4F, .dtype = dtype});
    all.push_back({.soft_cap = 1.5F, .dtype = dtype});
    all.push_back({.sink = -INFINITY, .dtype = dtype});
  }
  for (const int num_positions : {127, 128, 129}) {
    all.push_back({.window = 128, .num_positions = num_positions});
  }
  return all;
}

TEST(CpuRefAttention, EqualsTheFormula) {
  for (const Problem& problem : problems()) {
    Sequence sequence(problem);
    const auto exact = sequence.exact();
    const auto out = sequence.run(CpuLevel::kReference, 1, problem.num_positions, true);
    for (std::size_t idx = 0; idx < out.size(); ++idx) {
      ASSERT_NEAR(out[idx], exact[idx], 2e-6) << idx << " window " << problem.window;
    }
  }
}

TEST(CpuRefAttention, SinkTakesItsShare) {
  // Scores 1, 2, 3 and sink 2.5, values chosen so that the output is one weight each.
  ThreadPool pool(1);
  const Stream stream{&pool, CpuLevel::kScalar};
  KVCache cache = *KVCache::create({KVGroupLayout{1, 1, 1, 4, DType::kF32}}, kBlockSize);
  std::vector<float> k = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
  std::vector<float> v = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  std::vector<float> q = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  std::vector<float> out(12);
  const std::vector<std::int32_t> table = {0};
  const std::vector<float> sinks = {2.5F};
  AttentionMetadata metadata;
  metadata.num_sequences = 1;
  metadata.num_tokens = 3;
  metadata.sequences.push_back({0, 3, 0, {table}});
  metadata.sequence_of_row = {0, 0, 0};
  const Shape shape{3, 1, 4};
  write_kv(stream, cache.layer(0, 0), metadata, 0, view(k, shape), view(v, shape));
  make_cpu_ref_backend(1, 16)->run(
      stream,
      AttentionSpec{.num_heads = 1, .num_kv_heads = 1, .head_dim = 4, .sinks = Sinks::of(sinks)},
      cache.layer(0, 0),
      metadata,
      std::vector<std::int32_t>{0},
      view(q, shape),
      view(out, shape)
  );
  EXPECT_NEAR(out[8], 0.0641476854, 1e-7);
  EXPECT_NEAR(out[9], 0.1743714876, 1e-7);
  EXPECT_NEAR(out[10], 0.4739908463, 1e-7);
}

}  // namespace
}  // namespace rapt
