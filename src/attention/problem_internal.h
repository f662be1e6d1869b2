#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention/backend.h"
#include "attention/kv_cache.h"

namespace rapt {

// A made-up attention step to check or measure a backend with: sequences of which some positions
// are in the cache, rows to compute, and a cache in which everything that no row may see is NaN:
// free blocks, slots after a sequence's end, slots before its window. Values follow from a
// sequence's seed and the position alone, so the same sequence cut otherwise or with other
// company must give the same rows.
struct AttentionProblem {
  struct Sequence {
    std::uint32_t seed = 1;
    int num_before = 0;  // positions already in the cache
    int num_rows = 1;
  };

  std::int64_t num_heads = 8;
  std::int64_t num_kv_heads = 1;
  std::int64_t head_dim = 64;
  std::int64_t window = 0;
  float soft_cap = 0.0F;
  bool has_sinks = true;
  float sink = 0.5F;  // of head 0; head h has a little less, and -inf stays
  DType dtype = DType::kBF16;
  std::int64_t block_size = 16;
  std::vector<Sequence> sequences = {{}};
  float scale = 0.0F;            // 0: 1 / sqrt(head_dim)
  bool blocks_in_order = false;  // else scattered

  // "window 128, sink 0.5, 7 rows after 121"
  std::string describe() const;
};

// One problem laid out in memory. Owns everything; any thread that owns the stream's pool.
class AttentionTrial {
 public:
  AttentionTrial(const Stream& stream, const AttentionProblem& problem);

  const AttentionSpec& spec() const { return spec_; }

  const AttentionMetadata& metadata() const { return metadata_; }

  KVLayerView layer() const { return cache_.layer(0, 0); }

  std::int64_t num_rows() const { return metadata_.num_tokens; }

  // [num_rows, num_heads, head_dim]: what the backend makes of it. Floats that it leaves alone are
  // NaN.
  std::vector<float> run(const Stream& stream, AttentionBackend& backend);

  // The same without looking: `out` stays in place.
  void run_again(const Stream& stream, AttentionBackend& backend);

  // Changes what the trial was made of. `half`: 0 for K, 1 for V; not for F8.
  void set_element(
      int sequence_idx,
      std::int64_t position,
      std::int64_t kv_head,
      int half,
      std::int64_t dim,
      float value
  );
  void set_q(std::vector<float> q);
  void set_sinks(std::span<const float> sinks);

  void serve(std::vector<std::int32_t> sequences) { served_ = std::move(sequences); }

  // The cache's K or V of one row as it was stored.
  std::vector<float> stored(
      int sequence_idx, std::int64_t position, std::int64_t kv_head, int half
  );

  const std::vector<float>& q() const { return q_; }

  const std::vector<float>& sinks() const { return sinks_; }

 private:
  void write_cache(const Stream& stream, const AttentionProblem& problem);

  KVCache cache_;
  std::vector<std::vector<std::int32_t>> tables_;
  std::vector<std::int32_t> served_;
  AttentionMetadata metadata_;
  std::vector<float> sinks_;
  std::vector<float> q_;
  std::vector<float> out_;
  AttentionSpec spec_;
};

// A standard normal number (nearly: a sum of eight even ones) that follows from the arguments.
float made_up_value(
    std::uint32_t seed, std::uint32_t kind, std::int64_t position, std::int64_t idx
);

}  // namespace rapt
