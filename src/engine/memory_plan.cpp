#include "engine/memory_plan.h"

#include <algorithm>
#include <string>

#include "kvcache/kv_group.h"

namespace rapt {

namespace {

constexpr int kDefaultBlockSize = 16;

KVGroupSpec spec_of(const ModelKVGroup& group) {
  return KVGroupSpec{
      .kind = group.window > 0 ? KVGroupKind::kSliding : KVGroupKind::kFull,
      .window = group.window,
      .num_layers = group.num_layers,
  };
}

// A window is short: F8 would save little there and cost accuracy.
DType dtype_of(const ModelKVGroup& group, DType wanted) {
  return wanted == DType::kF8E4M3 && group.window > 0 ? DType::kBF16 : wanted;
}

std::uint64_t step_bytes(const EngineConfig& config, const Model& model) {
  const std::uint64_t hidden = static_cast<std::uint64_t>(config.max_num_batched_tokens) *
                               static_cast<std::uint64_t>(model.hidden_size());
  const std::uint64_t logits = static_cast<std::uint64_t>(config.max_num_seqs) *
                               static_cast<std::uint64_t>(model.info().vocab_size);
  return (hidden + logits) * sizeof(float) + model.workspace_bytes(largest_step(config));
}

// Bytes of `num_positions` positions over all groups.
std::uint64_t sequence_bytes(const MemoryPlan& plan, const ModelInfo& info, int num_positions) {
  std::uint64_t bytes = 0;
  for (std::size_t idx = 0; idx < plan.kv_groups.size(); ++idx) {
    const int num_blocks =
        blocks_claimed(spec_of(info.kv_groups[idx]), plan.block_size, num_positions);
    bytes += static_cast<std::uint64_t>(num_blocks) *
             KVCache::block_bytes(plan.kv_groups[idx], plan.block_size);
  }
  return bytes;
}

}  // namespace

StepSize largest_step(const EngineConfig& config) {
  return StepSize{
      .num_tokens = config.max_num_batched_tokens,
      .num_logit_rows = config.max_num_seqs,
      .linear_mode = config.linear_mode,
  };
}

Result<MemoryPlan> plan_memory(const EngineConfig& config, const Model& model, const CpuInfo& cpu) {
  const ModelInfo& info = model.info();
  MemoryPlan plan;
  plan.block_size = config.attention.has_value() && config.attention->block_size > 0
                        ? config.attention->block_size
                        : kDefaultBlockSize;
  const int block_size = plan.block_size;
  plan.kv_dtype = config.kv_cache_dtype;
  plan.weight_bytes = static_cast<std::uint64_t>(info.weight_bytes);
  plan.memory_bytes = cpu.memory_bytes;
  plan.workspace_bytes = step_bytes(config, model);
  if (config.max_model_len > info.max_model_len) {
    return invalid_argument(
        "--max-model-len is " + std::to_string(config.max_model_len) +
        ", but the model was made for " + std::to_string(info.max_model_len) + " positions at most"
    );
  }
  for (const ModelKVGroup& group : info.kv_groups) {
    if (group.head_dim % (4 / size_of(dtype_of(group, plan.kv_dtype))) != 0) {
      return invalid_argument(
          "--kv-cache-dtype fp8 needs heads of a size that 4 divides, and this model's have " +
          std::to_string(group.head_dim) + "; use bf16"
      );
    }
  }
  const int wanted_len = config.max_model_len > 0 ? config.max_model_len : info.max_model_len;
  const std::uint64_t budget =
      config.kv_cache_bytes > 0 ? config.kv_cache_bytes : cpu.memory_bytes / 4;

  // A sliding group is given what all sequences together can use, but no more than half.
  std::uint64_t sliding_bytes = 0;
  std::uint64_t full_block_bytes = 0;
  for (const ModelKVGroup& group : info.kv_groups) {
    plan.kv_groups.push_back(KVGroupLayout{
        .num_layers = group.num_layers,
        .num_blocks = 0,
        .num_kv_heads = group.num_kv_heads,
        .head_dim = group.head_dim,
        .dtype = dtype_of(group, plan.kv_dtype),
    });
    KVGroupLayout& layout = plan.kv_groups.back();
    const std::uint64_t block_bytes = KVCache::block_bytes(layout, block_size);
    if (group.window == 0) {
      full_block_bytes += block_bytes;
      continue;
    }
    const int claim = blocks_claimed(spec_of(group), block_size, wanted_len);
    const int useful =
        config.max_num_seqs * (claim + 1) + blocks_for(config.max_num_batched_tokens, block_size);
    const std::uint64_t affordable = budget / 2 / block_bytes;
    layout.num_blocks = static_cast<int>(std::clamp<std::uint64_t>(affordable, claim + 1U, useful));
    sliding_bytes += block_bytes * static_cast<std::uint64_t>(layout.num_blocks);
  }
  const std::uint64_t smallest = sliding_bytes + full_block_bytes;
  if (smallest > budget) {
    return invalid_argument(
        "the KV cache has " + std::to_string(budget) + " bytes, but one sequence needs at least " +
        std::to_string(smallest) + "; give more with --kv-cache-memory-bytes"
    );
  }
  plan.max_model_len = wanted_len;
  if (full_block_bytes > 0) {
    const std::uint64_t affordable = (budget - sliding_bytes) / full_block_bytes;
    const std::uint64_t useful = static_cast<std::uint64_t>(config.max_num_seqs) *
                                 static_cast<std::uint64_t>(blocks_for(wanted_len, block_size));
    const int num_blocks = static_cast<int>(std::min({affordable, useful, std::uint64_t{1} << 24}));
    for (std::size_t idx = 0; idx < plan.kv_groups.size(); ++idx) {
      if (info.kv_groups[idx].window == 0) {
        plan.kv_groups[idx].num_blocks = num_blocks;
      }
    }
    plan.max_model_len = std::min(wanted_len, num_blocks * block_size);
  }
  plan.model_len_was_cut = plan.max_model_len < wanted_len;
  if (plan.model_len_was_cut && config.max_model_len > 0) {
    return invalid_argument(
        "a sequence of --max-model-len " + std::to_string(wanted_len) + " needs " +
        std::to_string(sequence_bytes(plan, info, wanted_len)) + " bytes of KV cache, and " +
        std::to_string(budget) + " are set aside, enough for " +
        std::to_string(plan.max_model_len) +
        "; lower --max-model-len or raise --kv-cache-memory-bytes"
    );
  }
  for (const KVGroupLayout& group : plan.kv_groups) {
    plan.kv_cache_bytes +=
        KVCache::block_bytes(group, block_size) * static_cast<std::uint64_t>(group.num_blocks);
  }
  return plan;
}

}  // namespace rapt
