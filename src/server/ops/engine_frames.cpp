#include <cmath>
#include <string_view>

#include "base/json.h"
#include "server/ops/engine_frames_internal.h"

namespace rapt {

namespace {

// Shorter waits for a step's end are nothing to talk about.
constexpr double kMinStalledSeconds = 2.0;

std::string_view name_of(SequencePhase phase) {
  switch (phase) {
    case SequencePhase::kWaiting:
      return "waiting";
    case SequencePhase::kPrefill:
      return "prefill";
    case SequencePhase::kDecode:
      break;
  }
  return "decode";
}

json::value name_of(WaitReason reason) {
  switch (reason) {
    case WaitReason::kOthers:
      return "others";
    case WaitReason::kSequences:
      return "sequences";
    case WaitReason::kTokens:
      return "tokens";
    case WaitReason::kBlocks:
      return "blocks";
    case WaitReason::kNone:
      break;
  }
  return nullptr;
}

json::object sequence_object(const SequenceSnapshot& sequence) {
  json::object object;
  object["id"] = sequence.client_id;
  object["key"] = sequence.request_id;
  object["choice"] = sequence.choice;
  object["phase"] = name_of(sequence.phase);
  object["wait"] = name_of(sequence.wait);
  object["prompt_tokens"] = sequence.num_prompt;
  object["output_tokens"] = sequence.num_output;
  object["max_output_tokens"] = sequence.max_output;
  object["computed_tokens"] = sequence.num_computed;
  object["step_tokens"] = sequence.num_scheduled;
  object["blocks"] = sequence.num_blocks;
  return object;
}

json::array sequence_array(const std::vector<SequenceSnapshot>& sequences) {
  json::array array;
  for (const SequenceSnapshot& sequence : sequences) {
    array.emplace_back(sequence_object(sequence));
  }
  return array;
}

// Cells as runs of equal ones: owner, used blocks, length, and again.
json::array cell_runs(const std::vector<KVCell>& cells) {
  json::array runs;
  for (std::size_t begin = 0; begin < cells.size();) {
    std::size_t end = begin + 1;
    while (end < cells.size() && cells[end].owner == cells[begin].owner &&
           cells[end].num_used == cells[begin].num_used) {
      ++end;
    }
    runs.emplace_back(cells[begin].owner);
    runs.emplace_back(cells[begin].num_used);
    runs.emplace_back(end - begin);
    begin = end;
  }
  return runs;
}

json::array group_array(const std::vector<KVGroupSnapshot>& groups) {
  json::array array;
  for (const KVGroupSnapshot& group : groups) {
    json::object object;
    object["used"] = group.num_used;
    object["blocks_per_cell"] = group.blocks_per_cell;
    object["cells"] = cell_runs(group.cells);
    array.emplace_back(std::move(object));
  }
  return array;
}

double whole_microseconds(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

// In the order of kSecondFields.
json::array second_arrays(const std::vector<EngineSecond>& seconds) {
  json::array array;
  for (const EngineSecond& second : seconds) {
    array.emplace_back(json::array{
        second.second,
        second.num_steps,
        second.num_prompt_tokens,
        second.num_generated_tokens,
        second.num_first_tokens,
        whole_microseconds(second.first_token_seconds),
        second.num_gaps,
        whole_microseconds(second.gap_seconds),
        whole_microseconds(second.max_gap_seconds),
        second.num_running,
        second.num_waiting});
  }
  return array;
}

constexpr std::string_view kSecondFields[] = {
    "second",
    "steps",
    "prompt_tokens",
    "generated_tokens",
    "first_tokens",
    "first_token_seconds",
    "gaps",
    "gap_seconds",
    "max_gap_seconds",
    "running",
    "waiting",
};

json::object memory_object(const EngineFacts& facts) {
  json::object memory;
  memory["weight_bytes"] = facts.weight_bytes;
  memory["kv_cache_bytes"] = facts.kv_cache_bytes;
  memory["workspace_bytes"] = facts.workspace_bytes;
  memory["memory_bytes"] = facts.memory_bytes;
  return memory;
}

json::object kv_object(const EngineFacts& facts) {
  json::object kv;
  kv["block_size"] = facts.block_size;
  kv["dtype"] = facts.kv_dtype;
  json::array groups;
  for (const EngineFacts::KVGroup& group : facts.kv_groups) {
    json::object object;
    object["window"] = group.window;
    object["layers"] = group.num_layers;
    object["blocks"] = group.num_blocks;
    object["block_bytes"] = group.block_bytes;
    groups.emplace_back(std::move(object));
  }
  kv["groups"] = std::move(groups);
  return kv;
}

}  // namespace

std::string engine_hello_text(
    const Engine& engine, const std::string& model, const std::string& version
) {
  const EngineFacts facts = engine.facts();
  const EngineSnapshot snapshot = engine.snapshot(0);
  json::object hello;
  hello["type"] = "hello";
  hello["now"] = snapshot.now;
  hello["model"] = model;
  hello["version"] = version;
  hello["max_model_len"] = facts.max_model_len;
  hello["max_sequences"] = facts.max_num_seqs;
  hello["max_step_tokens"] = facts.max_num_batched_tokens;
  hello["inter_token_target_ms"] = facts.inter_token_target_ms;
  hello["threads"] = facts.num_threads;
  hello["kernels"] = facts.kernels;
  hello["attention"] = facts.attention;
  hello["memory"] = memory_object(facts);
  hello["kv"] = kv_object(facts);
  json::array fields;
  for (const std::string_view field : kSecondFields) {
    fields.emplace_back(field);
  }
  hello["second_fields"] = std::move(fields);
  hello["seconds"] = second_arrays(snapshot.seconds);
  return to_json_text(hello);
}

std::string engine_state_text(const EngineStats& stats, const EngineSnapshot& snapshot) {
  json::object state;
  state["type"] = "state";
  state["healthy"] = stats.healthy;
  const bool is_stalled = stats.seconds_since_progress >= kMinStalledSeconds;
  state["stalled_seconds"] =
      is_stalled ? static_cast<std::int64_t>(stats.seconds_since_progress) : 0;
  state["num_running"] = stats.num_running;
  state["num_waiting"] = stats.num_waiting;
  json::object totals;
  totals["steps"] = stats.num_steps;
  totals["prompt_tokens"] = stats.num_prompt_tokens;
  totals["generated_tokens"] = stats.num_generated_tokens;
  totals["finished_stop"] = stats.num_finished_stop;
  totals["finished_length"] = stats.num_finished_length;
  totals["finished_abort"] = stats.num_finished_abort;
  totals["finished_error"] = stats.num_finished_error;
  state["totals"] = std::move(totals);
  json::object step;
  step["number"] = snapshot.step.number;
  step["is_running"] = snapshot.step.is_running;
  step["sequences"] = snapshot.step.num_sequences;
  step["tokens"] = snapshot.step.num_tokens;
  step["prompt_tokens"] = snapshot.step.num_prompt_tokens;
  step["max_tokens"] = snapshot.step.max_tokens;
  step["sampled"] = snapshot.step.num_sampled;
  state["step"] = std::move(step);
  state["running"] = sequence_array(snapshot.running);
  state["waiting"] = sequence_array(snapshot.waiting);
  state["kv"] = group_array(snapshot.kv_groups);
  state["seconds"] = second_arrays(snapshot.seconds);
  return to_json_text(state);
}

std::string stamp_state_text(const std::string& text, std::int64_t now) {
  return "{\"now\":" + std::to_string(now) + "," + text.substr(1);
}

}  // namespace rapt
