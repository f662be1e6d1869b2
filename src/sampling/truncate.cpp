#include <algorithm>
#include <bit>
#include <cmath>

#include "sampling/truncate_internal.h"

namespace rapt {

namespace {

// Of scores <= 0 the better has the smaller magnitude, and the bits of non-negative floats are
// ordered like their values.
std::uint64_t key_of(float score, std::size_t token) {
  return (static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(std::fabs(score))) << 32) | token;
}

std::size_t token_of(std::uint64_t key) {
  return key & 0xFFFFFFFFU;
}

}  // namespace

Truncator::Truncator(int vocab_size) : buckets_(kNumBuckets) {
  keys_.reserve(static_cast<std::size_t>(vocab_size));
}

void Truncator::keep_top_k(int k, std::span<const float> scores, std::span<float> weights) {
  fill_buckets(scores, weights);
  auto left = static_cast<std::size_t>(k);
  for (int bucket = 0; bucket < kNumBuckets; ++bucket) {
    const std::size_t count = buckets_[static_cast<std::size_t>(bucket)].count;
    if (count < left) {
      left -= count;
      continue;
    }
    gather(bucket, scores, weights);
    const auto last = keys_.begin() + static_cast<std::ptrdiff_t>(left - 1);
    std::nth_element(keys_.begin(), last, keys_.end());
    drop_after(*last, scores, weights);
    return;
  }
}

void Truncator::keep_top_p(float p, std::span<const float> scores, std::span<float> weights) {
  fill_buckets(scores, weights);
  double total = 0.0;
  for (const Bucket& bucket : buckets_) {
    total += bucket.weight;
  }
  const double wanted = static_cast<double>(p) * total;
  double sum = 0.0;
  for (int bucket = 0; bucket < kNumBuckets; ++bucket) {
    const double weight = buckets_[static_cast<std::size_t>(bucket)].weight;
    if (sum + weight < wanted) {
      sum += weight;
      continue;
    }
    gather(bucket, scores, weights);
    std::sort(keys_.begin(), keys_.end());
    std::uint64_t last = keys_.back();
    for (const std::uint64_t key : keys_) {
      sum += static_cast<double>(weights[token_of(key)]);
      if (sum >= wanted) {
        last = key;
        break;
      }
    }
    drop_after(last, scores, weights);
    return;
  }
}

int Truncator::bucket_of(float score) const {
  return std::min(static_cast<int>(std::fabs(score) * buckets_per_unit_), kNumBuckets - 1);
}

void Truncator::fill_buckets(std::span<const float> scores, std::span<const float> weights) {
  float worst = 0.0F;
  for (std::size_t token = 0; token < scores.size(); ++token) {
    if (weights[token] > 0.0F) {
      worst = std::min(worst, scores[token]);
    }
  }
  buckets_per_unit_ = worst < -1e-20F ? static_cast<float>(kNumBuckets) / std::fabs(worst) : 0.0F;
  std::fill(buckets_.begin(), buckets_.end(), Bucket{0, 0.0});
  for (std::size_t token = 0; token < scores.size(); ++token) {
    if (weights[token] > 0.0F) {
      Bucket& bucket = buckets_[static_cast<std::size_t>(bucket_of(scores[token]))];
      ++bucket.count;
      bucket.weight += static_cast<double>(weights[token]);
    }
  }
}

void Truncator::gather(int bucket, std::span<const float> scores, std::span<const float> weights) {
  keys_.clear();
  for (std::size_t token = 0; token < scores.size(); ++token) {
    if (weights[token] > 0.0F && bucket_of(scores[token]) == bucket) {
      keys_.push_back(key_of(scores[token], token));
    }
  }
}

void Truncator::drop_after(
    std::uint64_t last_kept, std::span<const float> scores, std::span<float> weights
) {
  for (std::size_t token = 0; token < scores.size(); ++token) {
    if (key_of(scores[token], token) > last_kept) {
      weights[token] = 0.0F;
    }
  }
}

}  // namespace rapt
