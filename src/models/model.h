#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/select/attention_model.h"
#include "base/result.h"
#include "layers/forward_context.h"
#include "quant/linear_method.h"
#include "tensor/tensor.h"

namespace rapt {

class CheckpointDir;

// Layers that share a block table: they keep the same part of a sequence.
struct ModelKVGroup {
  int num_layers = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  int window = 0;  // 0: every position
};

// What the rest of Rapt may know of a model.
struct ModelInfo {
  std::string architecture;   // "GptOssForCausalLM"
  std::string chat_format;    // "harmony", "jinja": a name that text/ knows; "" when there is none
  std::string weight_format;  // "mxfp4", "bf16": of most of the weights
  int num_layers = 0;
  int vocab_size = 0;
  int max_model_len = 0;  // positions it was made for
  std::vector<ModelKVGroup> kv_groups;
  AttentionModel attention;  // what the choice of attention backends depends on
  std::vector<std::int32_t> eos_token_ids;
  std::int64_t num_parameters = 0;
  std::int64_t num_active_parameters = 0;
  std::int64_t weight_bytes = 0;
  // Every fact of the config, name and value, for people (`rapt inspect`).
  std::vector<std::pair<std::string, std::string>> details;
};

// The tokens of a step, sequence after sequence as the context's metadata says.
struct ModelInput {
  std::span<const std::int32_t> token_ids;  // [num_tokens]
  std::span<const std::int32_t> positions;  // [num_tokens], as RoPE sees them
};

// One matrix of a model, or a stack of them, for those who measure or prepare weights.
struct ModelLinear {
  std::string name;  // "layers.0.attention.q"; the same in every process
  LinearMethod* method = nullptr;
  std::int64_t num_active = 1;  // matrices of the stack that a token goes through
};

// What the memory of a step depends on.
struct StepSize {
  std::int64_t num_tokens = 0;
  std::int64_t num_logit_rows = 0;
  LinearMode linear_mode = LinearMode::kF32;
};

// A decoder: token ids in, logits out. Immutable after loading, but for where its matrices lie
// (LinearMethod::use_prepared()); holds the checkpoint's mapping.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelInfo& info() const = 0;

  // The files that the weights are views of.
  virtual const CheckpointDir& checkpoint() const = 0;

  // Runs all layers, reading and writing the context's cache. `hidden` receives the residual stream
  // behind the last layer.
  virtual void forward(
      const ForwardContext& ctx,
      const ModelInput& input,
      Tensor hidden  // [num_tokens, hidden_size] fp32
  ) const = 0;

  // The logits of some rows of `hidden`.
  virtual void logits(
      const ForwardContext& ctx,
      Tensor hidden,                       // [num_tokens, hidden_size] fp32
      std::span<const std::int32_t> rows,  // [num_rows]
      Tensor out                           // [num_rows, vocab_size] fp32
  ) const = 0;

  virtual std::int64_t hidden_size() const = 0;

  // All matrices, in the order in which a step reads them.
  virtual std::vector<ModelLinear> linears() = 0;

  // Workspace that a forward() and then a logits() of up to that size take.
  virtual std::uint64_t workspace_bytes(const StepSize& most) const = 0;
};

// Reads what a model asks of attention from its configuration alone: of a folder config.json (no
// weight file is opened), of a GGUF file its metadata. `name` is how messages call the model.
Result<AttentionModel> read_attention_needs(const std::string& path, const std::string& name);

// Loads the model in a folder or a GGUF file (models/CMakeLists.txt lists the models). Weights
// stay mapped; an unused or missing tensor is an error.
Result<std::unique_ptr<Model>> load_model(const std::string& path);

}  // namespace rapt
