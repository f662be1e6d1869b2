#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attention/spec.h"
#include "layers/basic.h"
#include "layers/forward_context.h"

namespace rapt {

// The attention of one decoder layer: projections, RoPE, the cache, the backend, the way out.
class Attention {
 public:
  // Which elements of a head RoPE turns together, in the order in which the rows of q and k are
  // stored: i and i + head_dim / 2, or 2i and 2i + 1.
  enum class RopePairs { kHalves, kNeighbours };

  // `spec.sinks` is ignored; the sinks are the layer's own, none when `sinks` is empty.
  Attention(
      Linear q,
      Linear k,
      Linear v,
      Linear out,
      std::vector<float> sinks,
      AttentionSpec spec,
      RopePairs rope_pairs = RopePairs::kHalves
  );

  // out = W_o attend(rope(q), rope(k), v). `cos`, `sin`: the step's RoPE table.
  void forward(
      const ForwardContext& ctx,
      Tensor x,    // [num_tokens, hidden_size] normalised
      Tensor cos,  // [num_tokens, head_dim / 2]
      Tensor sin,  // [num_tokens, head_dim / 2]
      Tensor out   // [num_tokens, hidden_size]
  ) const;

  // Takes from `workspace` what forward() would.
  void measure(Workspace& workspace, LinearMode mode, std::int64_t num_tokens) const;

  const AttentionSpec& spec() const { return spec_; }

  std::int64_t num_bytes() const;

  // The projections by name, in the order in which they are read.
  std::vector<std::pair<std::string, LinearMethod*>> methods();

 private:
  struct Scratch {
    Tensor q;
    Tensor k;
    Tensor v;
    Tensor attended;
  };

  Scratch take_scratch(Workspace& workspace, std::int64_t num_tokens) const;

  Linear q_;
  Linear k_;
  Linear v_;
  Linear out_;
  std::vector<float> sinks_;  // [num_heads] or empty
  AttentionSpec spec_;
  RopePairs rope_pairs_;
};

}  // namespace rapt
