#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "checkpoint/checkpoint_dir.h"
#include "models/gpt_oss/config.h"
#include "quant/weight_format.h"

namespace rapt {

// How a gpt-oss checkpoint spells its tensors. Behind this interface nobody knows the layouts
// apart.
class GptOssNames {
 public:
  virtual ~GptOssNames() = default;

  virtual std::string embedding() const = 0;
  virtual std::string final_norm() const = 0;
  virtual LinearSpec lm_head() const = 0;

  virtual std::string attention_norm(std::int64_t layer_idx) const = 0;
  virtual LinearSpec query(std::int64_t layer_idx) const = 0;
  virtual LinearSpec key(std::int64_t layer_idx) const = 0;
  virtual LinearSpec value(std::int64_t layer_idx) const = 0;
  virtual LinearSpec attention_out(std::int64_t layer_idx) const = 0;
  virtual std::string sinks(std::int64_t layer_idx) const = 0;

  virtual std::string moe_norm(std::int64_t layer_idx) const = 0;
  virtual LinearSpec router(std::int64_t layer_idx) const = 0;
  virtual LinearSpec gate_up(std::int64_t layer_idx) const = 0;
  virtual LinearSpec down(std::int64_t layer_idx) const = 0;
};

// The names of this checkpoint; it and `config` must outlive them.
std::unique_ptr<GptOssNames> gpt_oss_names(
    const CheckpointDir& checkpoint, const GptOssConfig& config
);

// The same for a GGUF file of either dialect.
std::unique_ptr<GptOssNames> gpt_oss_gguf_names(
    const CheckpointDir& checkpoint, const GptOssConfig& config
);

// A matrix and its bias under the usual two names.
LinearSpec plain_linear(
    const std::string& prefix, std::int64_t in_features, std::int64_t out_features, bool has_bias
);

}  // namespace rapt
