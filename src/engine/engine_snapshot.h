#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request/request.h"
#include "request/wait_reason.h"

// What the engine shows of its inside, as plain values: for people who look on, and for nothing
// that decides anything.

namespace rapt {

// What is settled when the engine is made.
struct EngineFacts {
  struct KVGroup {
    int window = 0;  // 0: full layers
    int num_layers = 0;
    int num_blocks = 0;
    std::uint64_t block_bytes = 0;  // over all layers of the group, K and V
  };

  std::uint64_t weight_bytes = 0;
  std::uint64_t kv_cache_bytes = 0;
  std::uint64_t workspace_bytes = 0;
  std::uint64_t memory_bytes = 0;  // what this process may use in all
  int block_size = 0;              // positions in a block
  std::string kv_dtype;
  std::vector<KVGroup> kv_groups;
  int max_model_len = 0;
  int max_num_seqs = 0;
  int max_num_batched_tokens = 0;
  int inter_token_target_ms = 0;  // 0: none
  int num_threads = 0;
  std::string kernels;    // the level of the CPU kernels
  std::string attention;  // the backend's name
};

enum class SequencePhase { kWaiting, kPrefill, kDecode };

struct SequenceSnapshot {
  RequestId request_id = 0;
  std::string client_id;
  int choice = 0;
  SequencePhase phase = SequencePhase::kWaiting;
  WaitReason wait = WaitReason::kNone;
  int num_prompt = 0;
  int num_output = 0;
  int max_output = 0;
  int num_computed = 0;   // tokens whose K and V are in the cache
  int num_scheduled = 0;  // tokens in the step under way
  int num_blocks = 0;     // over all groups
};

// The step under way, or the last one.
struct StepSnapshot {
  std::uint64_t number = 0;
  bool is_running = false;
  int num_sequences = 0;
  int num_tokens = 0;
  int num_prompt_tokens = 0;
  int num_sampled = 0;
  int max_tokens = 0;  // as many could have been; fewer while somebody decodes
};

// Some neighbouring blocks of a group.
struct KVCell {
  std::int32_t owner = 0;  // whose the first used one is: 1 + index into `running`; 0: all are free
  std::int32_t num_used = 0;  // of the blocks of this cell
};

struct KVGroupSnapshot {
  int num_used = 0;
  int blocks_per_cell = 1;
  std::vector<KVCell> cells;
};

// What happened in one second of the engine's life. Seconds in which nothing did are left out.
struct EngineSecond {
  std::int64_t second = 0;  // since the engine was made
  int num_steps = 0;
  int num_prompt_tokens = 0;
  int num_generated_tokens = 0;
  int num_first_tokens = 0;          // requests that got their first token
  int num_gaps = 0;                  // tokens that followed another one of their request
  double first_token_seconds = 0.0;  // summed over them
  double gap_seconds = 0.0;          // summed over them
  double max_gap_seconds = 0.0;
  int num_running = 0;  // at its last step's end
  int num_waiting = 0;
};

struct EngineSnapshot {
  std::int64_t now = 0;  // second since the engine was made
  StepSnapshot step;
  std::vector<SequenceSnapshot> running;  // in the order of admission
  std::vector<SequenceSnapshot> waiting;  // in the order of arrival, the first kMaxWaitingShown
  std::vector<KVGroupSnapshot> kv_groups;
  std::vector<EngineSecond> seconds;  // oldest first

  static constexpr std::size_t kMaxWaitingShown = 100;
  static constexpr int kMaxCells = 1024;  // of a group
};

}  // namespace rapt
