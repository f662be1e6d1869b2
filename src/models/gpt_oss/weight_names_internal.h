#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/checkpoint_dir.h"
#include "models/gpt_oss/config.h"
#include "quant/weight_format.h"

namespace rapt {

// How a gpt-oss checkpoint spells its tensors. The only place that knows the two layouts apart.
class GptOssNames {
 public:
  GptOssNames(CheckpointDir::Layout layout, const GptOssConfig& config)
      : is_original_(layout == CheckpointDir::Layout::kOriginal), config_(config) {}

  std::string embedding() const;
  std::string final_norm() const;
  LinearSpec lm_head() const;

  std::string attention_norm(std::int64_t layer_idx) const;
  LinearSpec query(std::int64_t layer_idx) const;
  LinearSpec key(std::int64_t layer_idx) const;
  LinearSpec value(std::int64_t layer_idx) const;
  LinearSpec attention_out(std::int64_t layer_idx) const;
  std::string sinks(std::int64_t layer_idx) const;

  std::string moe_norm(std::int64_t layer_idx) const;
  LinearSpec router(std::int64_t layer_idx) const;
  LinearSpec gate_up(std::int64_t layer_idx) const;
  LinearSpec down(std::int64_t layer_idx) const;

 private:
  std::string layer(std::int64_t layer_idx) const;
  LinearSpec projection(
      std::int64_t layer_idx, const char* name, std::int64_t first_row, std::int64_t num_rows
  ) const;
  LinearSpec experts(
      std::int64_t layer_idx,
      const char* name,
      const char* original_name,
      std::int64_t in_features,
      std::int64_t out_features
  ) const;

  bool is_original_;
  const GptOssConfig& config_;
};

}  // namespace rapt
