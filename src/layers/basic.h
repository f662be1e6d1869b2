#pragma once

#include <cstdint>
#include <initializer_list>
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

  // x += delta, then y = norm(x). All [num_tokens, hidden_size] fp32.
  void add_forward(const ForwardContext& ctx, Tensor x, Tensor delta, Tensor y) const;

 private:
  Tensor weight() const;

  std::vector<float> weight_;
  float eps_ = 0.0F;
};

// The matrices that read one input.
using Readers = std::initializer_list<const LinearMethod*>;

// `x`, made ready for all of them: packed once, if one reads it packed. Valid until the workspace
// is rewound.
PackedInput make_input(const ForwardContext& ctx, Tensor x, Readers readers);

// Takes from `workspace` what make_input() would for that many rows.
void measure_input(Workspace& workspace, LinearMode mode, std::int64_t num_rows, Readers readers);

// One matrix with its optional bias.
class Linear {
 public:
  static Result<Linear> load(WeightLoader& loader, const LinearSpec& spec);

  // y: [num_tokens, out_features] fp32
  void forward(const ForwardContext& ctx, const PackedInput& x, Tensor y) const;

  const LinearMethod& method() const { return *method_; }

  LinearMethod& method() { return *method_; }

 private:
  std::unique_ptr<LinearMethod> method_;
};

}  // namespace rapt
