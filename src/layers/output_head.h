#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "layers/basic.h"
#include "layers/forward_context.h"

namespace rapt {

// The end of a decoder: the final norm and the matrix that makes logits of hidden states.
class OutputHead {
 public:
  static Result<OutputHead> load(
      WeightLoader& loader, const std::string& norm, double norm_eps, const LinearSpec& matrix
  );

  // The logits of the chosen rows only.
  void forward(
      const ForwardContext& ctx,
      Tensor hidden,                       // [num_tokens, hidden_size]
      std::span<const std::int32_t> rows,  // of hidden
      Tensor out                           // [rows.size(), vocab_size]
  ) const;

  // Takes from `workspace` what forward() would.
  void measure(Workspace& workspace, LinearMode mode, std::int64_t num_rows) const;

  LinearMethod& method() { return matrix_.method(); }

 private:
  RmsNorm norm_;
  Linear matrix_;
};

}  // namespace rapt
