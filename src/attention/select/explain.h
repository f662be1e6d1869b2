#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/registry.h"
#include "attention/select/attention_model.h"
#include "attention/select/device.h"
#include "base/json.h"
#include "base/result.h"

// `rapt attention explain NAME`: what a backend's name meant in another engine, in which release,
// if it ran gpt-oss there, and what it means here. Facts as data; pure functions, any thread.

namespace rapt {

// How a name fared with gpt-oss on a kind of device, in one release of one engine.
enum class ForeignOutcome {
  kRight,        // runs, and is what that engine would choose itself
  kWorks,        // runs, though not the engine's own choice
  kFails,        // an error, at start or later
  kWrongOutput,  // runs and answers wrongly, without a word
  kIgnored,      // the setting has no effect
};

std::string_view name_of(ForeignOutcome outcome);

struct ForeignRow {
  std::string device;  // "A100, A10, 30x0 (SM 8.0, 8.6)"
  ForeignOutcome outcome = ForeignOutcome::kFails;
  std::string text;  // what ran, or the symptom
};

struct HereRow {
  std::string device;  // "CPU", "SM 8.0"
  std::string text;    // "cuda-mma", "cannot run: ...; works here: ..."
};

struct Explanation {
  std::string name;          // as asked; "unset" for no name
  std::string canonical;     // the known name it stands for: "TRITON_ATTN"
  std::string engine;        // whose name it is: "vLLM"; "Rapt" for ours
  std::string what;          // what the name stands for, one sentence
  std::string release;       // "vLLM 0.11.0"; "" when no release was asked for
  std::string there;         // how that release took the name, one or two sentences; "" without one
  std::string right_answer;  // what would have been right there; "" when not known
  std::vector<ForeignRow> rows;
  std::vector<HereRow> here;
  std::vector<std::string> history;  // "2025-09-25, 0.11.0: ... (#25489)"
  std::vector<std::string> sources;  // "vLLM #25489"
};

struct ExplainRequest {
  std::string name = {};  // "" or "unset": what happens without a name
  std::string target =
      {};  // "vllm@0.11.0", "vllm", "sglang", "tensorrt-llm", "llama.cpp"; "" for none
  std::optional<DeviceFacts> device = {};  // only this device's rows; absent: all generations
  AttentionModel model = {};
  HostFacts host = {};
  std::span<const BackendInfo* const> backends = attention_backends();
};

// An unknown name or target is an error with what is near and what is known.
Result<Explanation> explain_attention_name(const ExplainRequest& request);

std::string explanation_text(const Explanation& explanation);
json::object explanation_json(const Explanation& explanation);

}  // namespace rapt
