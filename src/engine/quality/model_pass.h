#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attention/kv_cache.h"
#include "attention/metadata.h"
#include "attention/planned_attention.h"
#include "base/result.h"
#include "engine/engine.h"
#include "models/model.h"
#include "tensor/buffer.h"

namespace rapt {

// One sequence at a time through a model, chunk after chunk, with the bits of an engine of that
// configuration: for measuring, without scheduler and sampler. Several passes may share a model and
// a pool. One thread.
class ModelPass {
 public:
  // The configuration must name its attention plan and a length, `max_model_len`; logits are taken
  // for up to `max_rows` rows at once. The model and the pool must outlive it.
  static Result<std::unique_ptr<ModelPass>> create(
      const EngineConfig& config, const Model& model, ThreadPool& pool, int max_rows
  );

  // What follows is another sequence.
  void begin() { num_computed_ = 0; }

  // The next tokens of the sequence, up to `max_num_batched_tokens` of them.
  void forward(std::span<const std::int32_t> token_ids);

  // The logits of rows [first, first + count) of the last forward(): [count, vocab_size] fp32,
  // valid until the next call.
  Tensor logits(int first, int count);

 private:
  struct Memory {
    KVCache kv_cache;
    Buffer workspace;
    Buffer hidden;  // [max_num_batched_tokens, hidden_size] fp32
    Buffer logits;  // [max_rows, vocab_size] fp32
  };

  ModelPass(const EngineConfig& config, const Model& model, Stream stream, Memory memory);

  ForwardContext context();

  const Model& model_;
  Stream stream_;
  LinearMode linear_mode_;
  Memory memory_;
  PlannedAttention attention_;
  Workspace workspace_;
  std::vector<std::int32_t> block_ids_;  // 0, 1, 2, ...: the table of every group
  AttentionMetadata metadata_;
  std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> rows_;
  int num_computed_ = 0;
  int num_rows_ = 0;  // of the last forward()
};

}  // namespace rapt
