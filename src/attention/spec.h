#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rapt {

// One logit a query head that joins the softmax's denominator and brings no value. It is not scaled
// by 1 / sqrt(head_dim), and it counts once however the keys are divided. A type of its own without
// a default, so that nobody can run attention without saying which sinks the layer has.
class Sinks {
 public:
  static Sinks none() { return Sinks({}); }

  // `logits`: [num_heads], by query head; must outlive this view.
  static Sinks of(std::span<const float> logits) { return Sinks(logits); }

  bool empty() const { return logits_.empty(); }

  std::size_t size() const { return logits_.size(); }

  // The logit of a query head, or null where there are none.
  const float* of_head(std::int64_t head) const {
    return logits_.empty() ? nullptr : &logits_[static_cast<std::size_t>(head)];
  }

 private:
  explicit Sinks(std::span<const float> logits) : logits_(logits) {}

  std::span<const float> logits_;
};

// What one layer's attention computes, beside its inputs.
struct AttentionSpec {
  int group_idx = 0;       // which KV group (block table and window) the layer belongs to
  int layer_in_group = 0;  // its place in that group's store
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;  // divides num_heads; query head h reads KV head h / (heads / kv)
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // keys a query sees, its own included; 0: all before it
  float scale = 1.0F;       // scores are scale * (q . k)
  float soft_cap = 0.0F;    // above 0: scores become soft_cap * tanh(score / soft_cap)
  Sinks sinks;
};

}  // namespace rapt
