#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/basic.h"
#include "layers/forward_context.h"
#include "quant/linear_method.h"

namespace rapt {

// The MLP of a dense decoder layer: down(silu(gate(x)) * up(x)). Gate and up are one matrix whose
// rows alternate, as LinearSpec::second makes it of two.
class GatedMlp {
 public:
  GatedMlp(std::unique_ptr<LinearMethod> gate_up, Linear down);

  void forward(
      const ForwardContext& ctx,
      Tensor x,   // [num_tokens, hidden_size] normalised
      Tensor out  // [num_tokens, hidden_size]
  ) const;

  // Takes from `workspace` what forward() would.
  void measure(Workspace& workspace, LinearMode mode, std::int64_t num_tokens) const;

  std::int64_t num_bytes() const { return gate_up_->num_bytes() + down_.method().num_bytes(); }

  std::string_view format() const { return gate_up_->format(); }

  // The matrices by name, in the order in which they are read.
  std::vector<std::pair<std::string, LinearMethod*>> methods();

 private:
  // [num_tokens, intermediate_size]
  Tensor take_activated(Workspace& workspace, std::int64_t num_tokens) const;

  std::unique_ptr<LinearMethod> gate_up_;
  Linear down_;
};

}  // namespace rapt
