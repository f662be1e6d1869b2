#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>

#include "attention/kv_reader_internal.h"
#include "attention/problem_internal.h"

namespace rapt {

namespace {

constexpr std::uint32_t kQuery = 0;
constexpr std::uint32_t kKey = 1;
constexpr std::uint32_t kValue = 2;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// rows x width floats; those of row r are of position first + r.
void fill(
    float* to,
    std::uint32_t seed,
    std::uint32_t kind,
    std::int64_t first,
    std::int64_t num_rows,
    std::int64_t width
) {
  for (std::int64_t row = 0; row < num_rows; ++row) {
    for (std::int64_t idx = 0; idx < width; ++idx) {
      to[row * width + idx] = made_up_value(seed, kind, first + row, idx);
    }
  }
}

// The first position that any row of the sequence sees.
std::int64_t first_seen(const AttentionProblem& problem, const AttentionProblem::Sequence& one) {
  return problem.window > 0 ? std::max<std::int64_t>(one.num_before - problem.window + 1, 0) : 0;
}

}  // namespace

float made_up_value(
    std::uint32_t seed, std::uint32_t kind, std::int64_t position, std::int64_t idx
) {
  const std::uint64_t key =
      mix((std::uint64_t{seed} << 8) + kind) + static_cast<std::uint64_t>(position);
  const std::uint64_t a = mix(mix(key) + static_cast<std::uint64_t>(idx));
  const std::uint64_t b = mix(a);
  std::int64_t sum = 0;
  for (int part = 0; part < 4; ++part) {
    sum += static_cast<std::int64_t>(a >> (16 * part) & 0xFFFFU) +
           static_cast<std::int64_t>(b >> (16 * part) & 0xFFFFU);
  }
  // Eight even numbers in [0, 65535]: mean 262140, deviation 53510.
  return static_cast<float>(sum - 262140) / 53510.0F;
}

std::string AttentionProblem::describe() const {
  char text[200];
  const Sequence& first = sequences.front();
  std::snprintf(
      text,
      sizeof(text),
      "%d/%d heads x %d, window %d, sink %g, %d rows after %d",
      static_cast<int>(num_heads),
      static_cast<int>(num_kv_heads),
      static_cast<int>(head_dim),
      static_cast<int>(window),
      has_sinks ? static_cast<double>(sink) : std::numeric_limits<double>::quiet_NaN(),
      first.num_rows,
      first.num_before
  );
  std::string all = text;
  if (soft_cap > 0.0F) {
    all += ", soft cap";
  }
  if (sequences.size() > 1) {
    all += ", " + std::to_string(sequences.size()) + " sequences";
  }
  return all;
}

AttentionTrial::AttentionTrial(const Stream& stream, const AttentionProblem& problem)
    : spec_{
          .num_heads = problem.num_heads,
          .num_kv_heads = problem.num_kv_heads,
          .head_dim = problem.head_dim,
          .window = problem.window,
          .scale = problem.scale > 0.0F ? problem.scale
                                        : 1.0F / std::sqrt(static_cast<float>(problem.head_dim)),
          .soft_cap = problem.soft_cap,
          .sinks = Sinks::none(),
      } {
  const std::int64_t block_size = problem.block_size;
  std::int32_t num_blocks = 3;  // that stay free
  for (const AttentionProblem::Sequence& one : problem.sequences) {
    num_blocks += static_cast<std::int32_t>((one.num_before + one.num_rows) / block_size + 1);
  }
  auto cache = KVCache::create(
      {KVGroupLayout{1, num_blocks, problem.num_kv_heads, problem.head_dim, problem.dtype}},
      block_size
  );
  CHECK(cache, "no memory for a KV cache of ", num_blocks, " blocks");
  cache_ = *std::move(cache);
  // All bits set is NaN in every type.
  std::memset(layer().k, 0xFF, cache_.num_bytes());

  std::vector<std::int32_t> order(static_cast<std::size_t>(num_blocks));
  std::iota(order.begin(), order.end(), 0);
  if (!problem.blocks_in_order) {
    for (std::size_t idx = order.size(); idx > 1; --idx) {
      std::swap(order[idx - 1], order[mix(idx) % idx]);
    }
  }
  std::size_t next_block = 0;
  constexpr std::int32_t kNoBlock = -1;
  for (const AttentionProblem::Sequence& one : problem.sequences) {
    const std::int64_t end = one.num_before + one.num_rows;
    std::vector<std::int32_t> table;
    for (std::int64_t block = 0; block * block_size < end; ++block) {
      const bool is_left_behind = (block + 1) * block_size <= first_seen(problem, one);
      table.push_back(is_left_behind ? kNoBlock : order[next_block]);
      next_block += is_left_behind ? 0 : 1;
    }
    tables_.push_back(std::move(table));
  }
  write_cache(stream, problem);

  const std::int64_t width = problem.num_heads * problem.head_dim;
  for (std::size_t idx = 0; idx < problem.sequences.size(); ++idx) {
    const AttentionProblem::Sequence& one = problem.sequences[idx];
    served_.push_back(static_cast<std::int32_t>(idx));
    metadata_.sequences.push_back(SequenceRows{
        .first_row = metadata_.num_tokens,
        .num_rows = one.num_rows,
        .first_position = one.num_before,
        .block_tables = {tables_[idx]},
    });
    for (int row = 0; row < one.num_rows; ++row) {
      metadata_.sequence_of_row.push_back(static_cast<std::int32_t>(idx));
    }
    metadata_.num_tokens += one.num_rows;
    q_.resize(static_cast<std::size_t>(metadata_.num_tokens * width));
    fill(
        q_.data() + (metadata_.num_tokens - one.num_rows) * width,
        one.seed,
        kQuery,
        one.num_before,
        one.num_rows,
        width
    );
  }
  metadata_.num_sequences = static_cast<std::int32_t>(problem.sequences.size());
  if (problem.has_sinks) {
    for (std::int64_t head = 0; head < problem.num_heads; ++head) {
      sinks_.push_back(problem.sink - 0.0625F * static_cast<float>(head));
    }
    spec_.sinks = Sinks::of(sinks_);
  }
  out_.resize(q_.size());
}

void AttentionTrial::write_cache(const Stream& stream, const AttentionProblem& problem) {
  const std::int64_t width = problem.num_kv_heads * problem.head_dim;
  for (std::size_t idx = 0; idx < problem.sequences.size(); ++idx) {
    const AttentionProblem::Sequence& one = problem.sequences[idx];
    constexpr std::int64_t kRowsAtOnce = 1024;
    const std::int64_t end = one.num_before + one.num_rows;
    for (std::int64_t first = first_seen(problem, one); first < end; first += kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, end - first);
      std::vector<float> k(static_cast<std::size_t>(count * width));
      std::vector<float> v(k.size());
      fill(k.data(), one.seed, kKey, first, count, width);
      fill(v.data(), one.seed, kValue, first, count, width);
      AttentionMetadata metadata;
      metadata.num_sequences = 1;
      metadata.num_tokens = static_cast<std::int32_t>(count);
      metadata.sequences.push_back(SequenceRows{
          .num_rows = static_cast<std::int32_t>(count),
          .first_position = static_cast<std::int32_t>(first),
          .block_tables = {tables_[idx]},
      });
      metadata.sequence_of_row.assign(static_cast<std::size_t>(count), 0);
      const Shape shape{count, problem.num_kv_heads, problem.head_dim};
      write_kv(
          stream,
          layer(),
          metadata,
          0,
          Tensor(k.data(), DType::kF32, shape),
          Tensor(v.data(), DType::kF32, shape)
      );
    }
  }
}

std::vector<float> AttentionTrial::run(const Stream& stream, AttentionBackend& backend) {
  std::fill(out_.begin(), out_.end(), std::numeric_limits<float>::quiet_NaN());
  run_again(stream, backend);
  return out_;
}

void AttentionTrial::run_again(const Stream& stream, AttentionBackend& backend) {
  const Shape shape{num_rows(), spec_.num_heads, spec_.head_dim};
  backend.run(
      stream,
      spec_,
      layer(),
      metadata_,
      served_,
      Tensor(q_.data(), DType::kF32, shape),
      Tensor(out_.data(), DType::kF32, shape)
  );
}

void AttentionTrial::set_element(
    int sequence_idx,
    std::int64_t position,
    std::int64_t kv_head,
    int half,
    std::int64_t dim,
    float value
) {
  const KVLayerView view = layer();
  const auto& table = tables_[static_cast<std::size_t>(sequence_idx)];
  const std::int64_t block = table[static_cast<std::size_t>(position / view.block_size)];
  const std::int64_t slot = position % view.block_size;
  const std::int64_t pack = 4 / size_of(view.dtype);
  const std::int64_t offset = half == 0 ? k_offset(slot, dim, view.head_dim, pack)
                                        : v_offset(slot, dim, view.head_dim, pack);
  const std::int64_t idx = block * view.block_stride() + kv_head * view.head_stride() + offset;
  void* data = half == 0 ? view.k : view.v;
  if (view.dtype == DType::kF32) {
    static_cast<float*>(data)[idx] = value;
  } else {
    CHECK(view.dtype == DType::kBF16, name_of(view.dtype));
    static_cast<std::uint16_t*>(data)[idx] = f32_to_bf16(value);
  }
}

void AttentionTrial::set_q(std::vector<float> q) {
  CHECK(q.size() == q_.size(), q.size());
  q_ = std::move(q);
}

void AttentionTrial::set_sinks(std::span<const float> sinks) {
  sinks_.assign(sinks.begin(), sinks.end());
  spec_.sinks = Sinks::of(sinks_);
}

std::vector<float> AttentionTrial::stored(
    int sequence_idx, std::int64_t position, std::int64_t kv_head, int half
) {
  const KVLayerView view = layer();
  const KVReader reader(view, kv_head, tables_[static_cast<std::size_t>(sequence_idx)].data());
  std::vector<float> row(static_cast<std::size_t>(spec_.head_dim));
  half == 0 ? reader.read_k(position, row.data()) : reader.read_v(position, row.data());
  return row;
}

}  // namespace rapt
