#include "engine/model_runner.h"

#include <algorithm>
#include <utility>

#include "engine/attention_choice.h"
#include "scheduler/sequence.h"

namespace rapt {

namespace {

std::uint64_t f32_bytes(std::int64_t num_rows, std::int64_t row_size) {
  return static_cast<std::uint64_t>(num_rows * row_size) * sizeof(float);
}

}  // namespace

Result<std::unique_ptr<ModelRunner>> ModelRunner::create(
    const EngineConfig& config, const MemoryPlan& plan, const Model& model, ThreadPool& pool
) {
  const StepSize most = largest_step(config);
  ASSIGN_OR_RETURN(const CpuLevel level, find_cpu_level(config));
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
      memory.logits,
      Buffer::allocate(f32_bytes(most.num_logit_rows, model.info().vocab_size), "the logits")
  );
  return std::unique_ptr<ModelRunner>(
      new ModelRunner(config, plan, model, Stream{&pool, level}, std::move(memory))
  );
}

ModelRunner::ModelRunner(
    const EngineConfig& config,
    const MemoryPlan& plan,
    const Model& model,
    Stream stream,
    Memory memory
)
    : model_(model),
      stream_(stream),
      linear_mode_(config.linear_mode),
      memory_(std::move(memory)),
      attention_(make_planned_attention(
          *config.attention,
          {.num_threads = stream.pool->num_threads(), .max_positions = plan.max_model_len}
      )),
      sampler_(model.info().vocab_size, config.max_num_seqs, stream_),
      workspace_(std::move(memory_.workspace)),
      max_rows_(config.max_num_seqs) {
  const auto max_tokens = static_cast<std::size_t>(config.max_num_batched_tokens);
  const auto max_rows = static_cast<std::size_t>(config.max_num_seqs);
  token_ids_.reserve(max_tokens);
  positions_.reserve(max_tokens);
  metadata_.sequence_of_row.reserve(max_tokens);
  metadata_.sequences.resize(max_rows);
  for (SequenceRows& rows : metadata_.sequences) {
    rows.block_tables.resize(plan.kv_groups.size());
  }
  logit_rows_.reserve(max_rows);
  sampler_rows_.reserve(max_rows);
  masks_.resize(max_rows);
  result_.slices.reserve(max_rows);
}

const StepResult& ModelRunner::run(const StepPlan& plan) {
  stream_.pool->wake();
  fill_inputs(plan);
  const ForwardContext ctx = context();
  const Shape shape{plan.num_tokens, model_.hidden_size()};
  hidden_ = Tensor(memory_.hidden.data(), DType::kF32, shape);
  model_.forward(ctx, ModelInput{token_ids_, positions_}, hidden_);
  tap_all_rows(plan);
  sample(plan);
  return result_;
}

ForwardContext ModelRunner::context() {
  return ForwardContext{
      .stream = stream_,
      .linear_mode = linear_mode_,
      .workspace = &workspace_,
      .kv_cache = &memory_.kv_cache,
      .attention = &attention_,
      .metadata = &metadata_,
  };
}

Tensor ModelRunner::logits_of(std::int64_t num_rows) const {
  return Tensor(memory_.logits.data(), DType::kF32, Shape{num_rows, model_.info().vocab_size});
}

void ModelRunner::fill_inputs(const StepPlan& plan) {
  token_ids_.clear();
  positions_.clear();
  metadata_.sequence_of_row.clear();
  metadata_.num_sequences = static_cast<std::int32_t>(plan.slices.size());
  metadata_.num_tokens = plan.num_tokens;
  for (std::size_t idx = 0; idx < plan.slices.size(); ++idx) {
    const StepSlice& slice = plan.slices[idx];
    const Sequence& sequence = *slice.sequence;
    SequenceRows& rows = metadata_.sequences[idx];
    rows.first_row = static_cast<std::int32_t>(token_ids_.size());
    rows.num_rows = slice.num_tokens;
    rows.first_position = slice.first_position;
    for (std::size_t group_idx = 0; group_idx < rows.block_tables.size(); ++group_idx) {
      rows.block_tables[group_idx] = sequence.blocks.table(static_cast<int>(group_idx));
    }
    for (int position = slice.first_position; position < slice.end_position(); ++position) {
      token_ids_.push_back(sequence.tokens[static_cast<std::size_t>(position)]);
      positions_.push_back(position + sequence.request->rope_position_offset);
      metadata_.sequence_of_row.push_back(static_cast<std::int32_t>(idx));
    }
  }
}

// Shows the rows that only a tap wants to see; the last row of a slice that samples comes later.
void ModelRunner::tap_all_rows(const StepPlan& plan) {
  const std::int64_t vocab_size = model_.info().vocab_size;
  for (std::size_t idx = 0; idx < plan.slices.size(); ++idx) {
    const StepSlice& slice = plan.slices[idx];
    if (!slice.all_logits) {
      continue;
    }
    const int num_rows = slice.num_tokens - (slice.samples ? 1 : 0);
    for (int begin = 0; begin < num_rows; begin += max_rows_) {
      const int count = std::min(max_rows_, num_rows - begin);
      logit_rows_.clear();
      for (int row = begin; row < begin + count; ++row) {
        logit_rows_.push_back(metadata_.sequences[idx].first_row + row);
      }
      const Tensor logits = logits_of(count);
      model_.logits(context(), hidden_, logit_rows_, logits);
      for (int row = 0; row < count; ++row) {
        slice.sequence->request->logits_tap(
            slice.sequence->choice,
            slice.first_position + begin + row,
            std::span<const float>(logits.rows(row, 1).f32(), static_cast<std::size_t>(vocab_size))
        );
      }
    }
  }
}

void ModelRunner::sample(const StepPlan& plan) {
  const std::int64_t vocab_size = model_.info().vocab_size;
  result_.slices.assign(plan.slices.size(), SliceResult{});
  logit_rows_.clear();
  sampler_rows_.clear();
  for (std::size_t idx = 0; idx < plan.slices.size(); ++idx) {
    const StepSlice& slice = plan.slices[idx];
    if (slice.samples) {
      const SequenceRows& rows = metadata_.sequences[idx];
      logit_rows_.push_back(rows.first_row + rows.num_rows - 1);
    }
  }
  if (logit_rows_.empty()) {
    return;
  }
  const Tensor logits = logits_of(static_cast<std::int64_t>(logit_rows_.size()));
  model_.logits(context(), hidden_, logit_rows_, logits);
  for (const StepSlice& slice : plan.slices) {
    if (!slice.samples) {
      continue;
    }
    const std::size_t row = sampler_rows_.size();
    const Sequence& sequence = *slice.sequence;
    const Request& request = *sequence.request;
    const std::span<const float> row_logits(
        logits.rows(static_cast<std::int64_t>(row), 1).f32(), static_cast<std::size_t>(vocab_size)
    );
    if (request.logits_tap) {
      request.logits_tap(sequence.choice, slice.end_position() - 1, row_logits);
    }
    std::span<const std::uint32_t> allowed;
    if (sequence.constraint) {
      masks_[row].assign(static_cast<std::size_t>(vocab_size + 31) / 32, ~std::uint32_t{0});
      sequence.constraint->fill_mask(masks_[row]);
      allowed = masks_[row];
    }
    sampler_rows_.push_back(SamplerRow{
        .logits = row_logits,
        .params = &request.sampling,
        .stop = &request.stop,
        .choice = sequence.choice,
        .position = sequence.num_tokens(),
        .prompt = request.prompt,
        .output = sequence.output(),
        .allowed = allowed,
    });
  }
  const std::span<const SamplerResult> drawn = sampler_.sample(sampler_rows_);
  std::size_t row = 0;
  for (std::size_t idx = 0; idx < plan.slices.size(); ++idx) {
    if (!plan.slices[idx].samples) {
      continue;
    }
    const SamplerResult& draw = drawn[row++];
    if (draw.error.empty()) {
      result_.slices[idx].tokens = std::span<const SampledToken>(&draw.sampled, 1);
    } else {
      result_.slices[idx].error = draw.error;
    }
  }
}

}  // namespace rapt
