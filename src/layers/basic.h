#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/weight_loader.h"
#include "layers/forward_context.h"
#include "quant/row_table.h"
#include "quant/weight_format.h"
#include "tensor/tensor.h"

namespace rapt {

// The small layers. Each is made by load(), holds its weights or a view of them, and is immutable.

class Embedding {
 public:
  static Result<Embedding> load(
      WeightLoader& loader,
      const std::string& name,
      std::int64_t vocab_size,
      std::int64_t hidden_size
  );

  // out: [num_tokens, hidden_size] fp32
  void forward(const ForwardContext& ctx, std::span<const std::int32_t> token_ids, Tensor out)
      const;

  std::int64_t num_bytes() const { return table_.num_bytes(); }

 private:
  RowTable table_;  // [vocab_size, hidden_size]
};

class RmsNorm {
 public:
  static Result<RmsNorm> load(
      WeightLoader& loader, const std::string& name, std::int64_t hidden_size, double eps
  );

  // x, y: [num_tokens, hidden_size] fp32; y may be x.
  void forward(const ForwardContext& ctx, Tensor x, Tensor y) const;

 private:
  std::vector<float> weight_;
  float eps_ = 0.0F;
};

// One matrix with its optional bias.
class Linear {
 public:
  static Result<Linear> load(WeightLoader& loader, const LinearSpec& spec);

  // y: [num_tokens, out_features] fp32
  void forward(const ForwardContext& ctx, const PackedInput& x, Tensor y) const;

  const LinearMethod& method() const { return *method_; }

 private:
  std::unique_ptr<LinearMethod> method_;
};

}  // namespace rapt
