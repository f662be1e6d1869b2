#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/weight_loader.h"
#include "models/llama/config.h"
#include "quant/weight_format.h"

namespace rapt {

// How a Llama-like checkpoint spells its tensors, in Hugging Face's layout or in GGUF. Biases are
// named where the checkpoint has them.
class LlamaNames {
 public:
  // Both must outlive the names.
  LlamaNames(const WeightLoader& loader, const LlamaConfig& config)
      : loader_(loader), config_(config), is_gguf_(loader.checkpoint().gguf() != nullptr) {}

  std::string embedding() const;
  std::string final_norm() const;
  LinearSpec lm_head() const;  // the embedding, in a model that shares it

  std::string attention_norm(std::int64_t layer_idx) const;
  LinearSpec query(std::int64_t layer_idx) const;
  LinearSpec key(std::int64_t layer_idx) const;
  LinearSpec value(std::int64_t layer_idx) const;
  LinearSpec attention_out(std::int64_t layer_idx) const;
  std::string mlp_norm(std::int64_t layer_idx) const;
  LinearSpec gate_up(std::int64_t layer_idx) const;
  LinearSpec down(std::int64_t layer_idx) const;

  // What RoPE's frequencies are divided by, in GGUF files that say so: [head_dim / 2].
  std::string rope_factors() const { return "rope_freqs.weight"; }

  // A table that some files hold though it follows from the config.
  std::string rope_table(std::int64_t layer_idx) const;

 private:
  std::string layer(std::int64_t layer_idx) const;
  LinearSpec linear(
      std::int64_t layer_idx,
      const char* name,
      const char* gguf_name,
      std::int64_t in_features,
      std::int64_t out_features
  ) const;

  const WeightLoader& loader_;
  const LlamaConfig& config_;
  bool is_gguf_;
};

}  // namespace rapt
