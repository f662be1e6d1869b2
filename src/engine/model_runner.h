#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "attention/kv_cache.h"
#include "attention/metadata.h"
#include "attention/planned_attention.h"
#include "base/result.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"
#include "models/model.h"
#include "sampling/sampler.h"
#include "scheduler/step_plan.h"
#include "tensor/buffer.h"

namespace rapt {

// Carries out step plans: lays the tokens of all slices side by side, runs the model over them, and
// draws a token for each slice that has come to its end. Holds the KV cache and the step's buffers,
// all sized at start; a step allocates nothing. No queues, no stop rules. Owned by the engine,
// engine thread only.
class ModelRunner {
 public:
  static Result<std::unique_ptr<ModelRunner>> create(
      const EngineConfig& config, const MemoryPlan& plan, const Model& model, ThreadPool& pool
  );

  // Valid until the next call.
  const StepResult& run(const StepPlan& plan);

 private:
  // What is allocated at start.
  struct Memory {
    KVCache kv_cache;
    Buffer workspace;
    Buffer hidden;  // [max_num_batched_tokens, hidden_size] fp32
    Buffer logits;  // [max_num_seqs, vocab_size] fp32
  };

  ModelRunner(
      const EngineConfig& config,
      const MemoryPlan& plan,
      const Model& model,
      Stream stream,
      Memory memory
  );

  void fill_inputs(const StepPlan& plan);
  // Memory for the logits of `num_rows` rows.
  Tensor logits_of(std::int64_t num_rows) const;
  ForwardContext context();
  void tap_all_rows(const StepPlan& plan);
  void sample(const StepPlan& plan);

  const Model& model_;
  Stream stream_;
  LinearMode linear_mode_;
  Memory memory_;
  PlannedAttention attention_;
  Sampler sampler_;
  Workspace workspace_;
  int max_rows_;

  // The inputs of the step under way; capacity for the largest one.
  std::vector<std::int32_t> token_ids_;
  std::vector<std::int32_t> positions_;
  AttentionMetadata metadata_;
  Tensor hidden_;  // the rows in use
  std::vector<std::int32_t> logit_rows_;
  std::vector<SamplerRow> sampler_rows_;
  std::vector<std::vector<std::uint32_t>> masks_;  // one a row, filled in for constrained ones
  StepResult result_;
};

}  // namespace rapt
