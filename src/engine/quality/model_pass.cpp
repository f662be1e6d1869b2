#include "engine/quality/model_pass.h"

#include <numeric>
#include <utility>

#include "base/cpu_info.h"
#include "engine/attention_choice.h"
#include "engine/memory_plan.h"

namespace rapt {

namespace {

std::uint64_t f32_bytes(std::int64_t num_rows, std::int64_t row_size) {
  return static_cast<std::uint64_t>(num_rows * row_size) * sizeof(float);
}

int blocks_of(int num_positions, int block_size) {
  return (num_positions + block_size - 1) / block_size;
}

}  // namespace

Result<std::unique_ptr<ModelPass>> ModelPass::create(
    const EngineConfig& config, const Model& model, ThreadPool& pool, int max_rows
) {
  CHECK(config.attention.has_value(), "no attention plan");
  CHECK(config.max_model_len > 0, config.max_model_len);
  ASSIGN_OR_RETURN(const CpuLevel level, find_cpu_level(config));
  EngineConfig one_sequence = config;
  one_sequence.max_num_seqs = 1;
  ASSIGN_OR_RETURN(MemoryPlan plan, plan_memory(one_sequence, model, detect_cpu()));
  for (KVGroupLayout& group : plan.kv_groups) {
    // All positions stay, those too that have left a window: nobody takes blocks back here.
    group.num_blocks = blocks_of(config.max_model_len, plan.block_size);
  }
  const StepSize most{
      .num_tokens = config.max_num_batched_tokens,
      .num_logit_rows = max_rows,
      .linear_mode = config.linear_mode,
  };
  Memory memory;
  ASSIGN_OR_RETURN(memory.kv_cache, KVCache::create(plan.kv_groups, plan.block_size));
  ASSIGN_OR_RETURN(
      memory.workspace, Buffer::allocate(model.workspace_bytes(most), "the step's workspace")
  );
  ASSIGN_OR_RETURN(
      memory.hidden,
      Buffer::allocate(f32_bytes(most.num_tokens, model.hidden_size()), "the step's activations")
  );
  ASSIGN_OR_RETURN(
      memory.logits, Buffer::allocate(f32_bytes(max_rows, model.info().vocab_size), "the logits")
  );
  std::unique_ptr<ModelPass> pass(
      new ModelPass(config, model, Stream{&pool, level}, std::move(memory))
  );
  pass->block_ids_.resize(static_cast<std::size_t>(blocks_of(config.max_model_len, plan.block_size))
  );
  std::iota(pass->block_ids_.begin(), pass->block_ids_.end(), 0);
  SequenceRows& rows = pass->metadata_.sequences.emplace_back();
  rows.block_tables.assign(plan.kv_groups.size(), pass->block_ids_);
  pass->metadata_.num_sequences = 1;
  return pass;
}

ModelPass::ModelPass(const EngineConfig& config, const Model& model, Stream stream, Memory memory)
    : model_(model),
      stream_(stream),
      linear_mode_(config.linear_mode),
      memory_(std::move(memory)),
      attention_(make_planned_attention(
          *config.attention,
          {.num_threads = stream.pool->num_threads(), .max_positions = config.max_model_len}
      )),
      workspace_(std::move(memory_.workspace)) {}

ForwardContext ModelPass::context() {
  return ForwardContext{
      .stream = stream_,
      .linear_mode = linear_mode_,
      .workspace = &workspace_,
      .kv_cache = &memory_.kv_cache,
      .attention = &attention_,
      .metadata = &metadata_,
  };
}

void ModelPass::forward(std::span<const std::int32_t> token_ids) {
  num_rows_ = static_cast<int>(token_ids.size());
  SequenceRows& rows = metadata_.sequences.front();
  rows.num_rows = num_rows_;
  rows.first_position = num_computed_;
  metadata_.num_tokens = num_rows_;
  metadata_.sequence_of_row.assign(token_ids.size(), 0);
  positions_.resize(token_ids.size());
  std::iota(positions_.begin(), positions_.end(), num_computed_);
  stream_.pool->wake();
  const Tensor hidden(memory_.hidden.data(), DType::kF32, Shape{num_rows_, model_.hidden_size()});
  model_.forward(context(), ModelInput{token_ids, positions_}, hidden);
  num_computed_ += num_rows_;
}

Tensor ModelPass::logits(int first, int count) {
  CHECK(first >= 0 && first + count <= num_rows_, first, " ", count, " of ", num_rows_);
  rows_.resize(static_cast<std::size_t>(count));
  std::iota(rows_.begin(), rows_.end(), first);
  const Tensor hidden(memory_.hidden.data(), DType::kF32, Shape{num_rows_, model_.hidden_size()});
  const Tensor out(memory_.logits.data(), DType::kF32, Shape{count, model_.info().vocab_size});
  model_.logits(context(), hidden, rows_, out);
  return out;
}

}  // namespace rapt
