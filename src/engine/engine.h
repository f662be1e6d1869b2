#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/select/plan.h"
#include "base/result.h"
#include "engine/engine_snapshot.h"
#include "quant/linear_mode.h"
#include "request/request.h"
#include "tensor/dtype.h"
#include "tensor/stream.h"

namespace rapt {

class Model;

struct EngineConfig {
  int max_model_len = 0;             // 0: the model's own, or what the KV cache can hold
  int max_num_seqs = 64;             // sequences in one step
  int max_num_batched_tokens = 512;  // tokens in one step
  // How long a step should take while somebody decodes: prompts are read in chunks as small as that
  // takes. 0: however long a whole chunk takes.
  int inter_token_target_ms = 0;
  std::uint64_t kv_cache_bytes = 0;  // 0: a quarter of the memory this process may use
  // kBF16, kF32, or kF8E4M3, which full layers only follow: sliding ones then keep BF16.
  DType kv_cache_dtype = DType::kBF16;
  int kv_block_size = 0;           // positions in a KV block; 0: what the attention plan likes
  int num_threads = 0;             // 0: the cores this process may use
  int max_queued_requests = 1024;  // once so many choices wait, submit() refuses
  bool reference = false;          // plain reference kernels
  std::optional<CpuLevel> cpu_level = std::nullopt;  // of the kernels; absent: the best here
  LinearMode linear_mode = LinearMode::kI16;
  std::string prepared_dir;  // where the prepared copy of the weights is looked for; "": nowhere
  bool writes_prepared = false;  // write it there in the background, if it is not there
  bool lock_memory = false;      // keep weights and caches in memory (mlock)
  // Which backends compute attention (engine/attention_choice.h). Absent: the automatic choice.
  std::optional<AttentionPlan> attention = std::nullopt;
};

// The build of the kernels that a configuration runs; an error when it asks for one that this
// machine cannot run.
Result<CpuLevel> find_cpu_level(const EngineConfig& config);

// A consistent snapshot for metrics and health. Counters only grow.
struct EngineStats {
  int num_running = 0;          // sequences that hold KV blocks
  int num_waiting = 0;          // sequences that wait for admission
  double kv_cache_usage = 0.0;  // used share of the fullest block pool, 0 to 1
  int num_blocks_used = 0;      // over all pools
  int num_blocks_total = 0;
  int max_step_tokens = 0;  // as many as the last step could have had
  std::uint64_t num_steps = 0;
  std::uint64_t num_prompt_tokens = 0;
  std::uint64_t num_generated_tokens = 0;
  std::uint64_t num_finished_stop = 0;
  std::uint64_t num_finished_length = 0;
  std::uint64_t num_finished_abort = 0;
  std::uint64_t num_finished_error = 0;
  bool healthy = true;                  // false after a failure that ended serving
  double seconds_since_progress = 0.0;  // 0 while idle; else since the last finished step
};

enum class SubmitOutcome { kAccepted, kQueueFull, kShuttingDown, kUnhealthy };

// The engine: owns the model, the KV cache, the scheduler and the one engine thread. Everything
// that decides what runs next happens on that thread; submit(), cancel() and stats() may be called
// from any thread and never wait for a step.
class Engine {
 public:
  // Allocates the KV cache and workspaces. The engine thread starts with start().
  static Result<std::unique_ptr<Engine>> create(
      const EngineConfig& config, std::unique_ptr<Model> model
  );
  virtual ~Engine() = default;

  virtual void start() = 0;

  // Checks what would make `request` impossible here: an empty or too long prompt (reason
  // "context_length_exceeded"), ids outside the vocabulary, more KV than there is. Also lowers
  // max_tokens to what the context leaves. Call before submit().
  virtual Result<void> validate(Request& request) const = 0;
  // Hands a validated request over. The sink gets every event, the last of each choice with
  // `finish` set; after the last choice's end the engine drops it.
  virtual SubmitOutcome submit(Request request, std::shared_ptr<TokenSink> sink) = 0;
  // Ends a request soon: its choices finish with kAbort. Unknown ids are fine.
  virtual void cancel(RequestId id) = 0;

  // No new requests from now on; those running and waiting go on.
  virtual void begin_drain() = 0;
  virtual bool is_idle() const = 0;
  // Ends the engine thread; unfinished choices get kAbort. Idempotent; the destructor calls it.
  virtual void stop() = 0;

  // Waits until the weights are in memory and, where one is written, their prepared copy is in use.
  virtual void wait_for_weights() {}

  virtual EngineStats stats() const = 0;
  virtual EngineFacts facts() const = 0;
  // What people who look on are shown, at most a step old; the history from second `since` on.
  // Waits for no step. The engine writes a snapshot only when the last one has been read.
  virtual EngineSnapshot snapshot(std::int64_t since) const = 0;
  virtual int max_model_len() const = 0;
  virtual int vocab_size() const = 0;
  // Names everything that can change a bit of the output: docs/NUMERICS.md.
  virtual std::string numerics_id() const = 0;
};

}  // namespace rapt
