#pragma once

#include <cstdint>
#include <vector>

#include "attention/kv_cache.h"
#include "base/cpu_info.h"
#include "base/result.h"
#include "engine/engine.h"
#include "models/model.h"

namespace rapt {

// Where memory goes. All of it is decided before the first request: serving allocates no more.
struct MemoryPlan {
  int block_size = 16;                   // positions in a KV block
  int max_model_len = 0;                 // tokens one sequence may have
  DType kv_dtype = DType::kBF16;         // of full layers; sliding ones keep BF16 where this is F8
  std::vector<KVGroupLayout> kv_groups;  // in the order of ModelInfo::kv_groups
  std::uint64_t weight_bytes = 0;        // mapped from the checkpoint, shared with the page cache
  std::uint64_t kv_cache_bytes = 0;
  std::uint64_t workspace_bytes = 0;  // of one step: activations and logits
  std::uint64_t memory_bytes = 0;     // what this process may use in all
  bool model_len_was_cut = false;     // the cache holds less than the model was made for
};

// The largest step that a configuration allows.
StepSize largest_step(const EngineConfig& config);

// Divides the memory for the KV cache between the groups: sliding groups get the window of every
// sequence that may run, the full ones the rest. Fails, saying what would work, when the cache
// cannot hold one sequence of the length asked for.
Result<MemoryPlan> plan_memory(const EngineConfig& config, const Model& model, const CpuInfo& cpu);

}  // namespace rapt
