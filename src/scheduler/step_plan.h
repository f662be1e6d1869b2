#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "request/request.h"

namespace rapt {

struct Sequence;

// A run of consecutive tokens of one sequence, computed in one step.
struct StepSlice {
  Sequence* sequence = nullptr;
  int first_position = 0;   // tokens[first_position, first_position + num_tokens) are computed
  int num_tokens = 0;       // at least 1
  bool samples = false;     // it reaches the end of the tokens: draw from its last row's logits
  bool all_logits = false;  // the request's tap wants the logits of each row

  int end_position() const { return first_position + num_tokens; }
};

// What one step computes. Plain data; owned by the Scheduler and valid until the next plan().
struct StepPlan {
  std::vector<StepSlice> slices;  // at most one a sequence
  int num_tokens = 0;             // over all slices
  int num_sampled = 0;            // slices that sample
  int num_prompt_tokens = 0;      // of num_tokens, those of prompts
  int max_tokens = 0;             // as many could have been; fewer while somebody decodes

  bool empty() const { return slices.empty(); }
};

// What came of one slice. The views must live until commit() returns.
struct SliceResult {
  std::span<const SampledToken> tokens = {};  // empty unless it samples; several with speculation
  std::string_view error = {};                // not empty: this sequence alone fails, and why
};

// One result a slice, in the order of the plan.
struct StepResult {
  std::vector<SliceResult> slices;
};

}  // namespace rapt
