#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rapt {

// Keeps the best tokens of a distribution and gives the others the weight 0. Tokens are ordered by
// score, the higher the better, and among equal scores the lower id is the better: each filter
// keeps a prefix of that order. Only the part of the order around the cut is ever sorted, so the
// cost is a few passes over the vocabulary. One object a thread; no call allocates.
class Truncator {
 public:
  explicit Truncator(int vocab_size);

  // `scores` are at most 0, and `weights` their exponentials; a weight of 0 means not in the game.
  // The best `k` >= 1 keep their weight.
  void keep_top_k(int k, std::span<const float> scores, std::span<float> weights);
  // The shortest prefix whose weights sum up to at least p of all, 0 < p < 1.
  void keep_top_p(float p, std::span<const float> scores, std::span<float> weights);

 private:
  // Scores are sorted into buckets of equal width, the best first.
  static constexpr int kNumBuckets = 4096;

  struct Bucket {
    std::uint32_t count;
    double weight;
  };

  int bucket_of(float score) const;
  void fill_buckets(std::span<const float> scores, std::span<const float> weights);
  // Collects the keys of one bucket's tokens, unsorted. Keys ascend as tokens get worse.
  void gather(int bucket, std::span<const float> scores, std::span<const float> weights);
  static void drop_after(
      std::uint64_t last_kept, std::span<const float> scores, std::span<float> weights
  );

  float buckets_per_unit_ = 0.0F;
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace rapt
