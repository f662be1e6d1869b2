#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kvcache/block_tables.h"
#include "request/request.h"

namespace rapt {

enum class SequenceStatus {
  kWaiting,  // holds nothing yet
  kRunning,  // admitted: holds KV blocks and keeps them until it ends
  kEnded,    // its last event is out; it leaves the scheduler within the same call
};

// The mutable life of one choice of one request. Made by make_sequence(), owned by the Scheduler
// from add() until its end, touched by the engine thread only. A sequence is a list of tokens of
// which the first `num_computed` have their K and V in the cache: prefill, chunked prefill and
// decode are all "compute some of the rest".
struct Sequence {
  const Request* request = nullptr;  // outlives the sequence; shared by its choices
  int choice = 0;
  SequenceStatus status = SequenceStatus::kWaiting;
  // Prompt, then produced tokens. Filled in at admission, with room for all that may come, so that
  // a long queue stays small and no step allocates.
  std::vector<TokenId> tokens;
  int num_computed = 0;
  int num_scheduled = 0;   // tokens of the plan under way
  bool is_paused = false;  // its next block would have broken the safe state, in the last plan
  BlockTables blocks;
  std::unique_ptr<StopMatcher> stop_matcher;    // null without stop strings
  std::unique_ptr<TokenConstraint> constraint;  // null when the output is free

  int num_prompt() const { return static_cast<int>(request->prompt.size()); }

  int num_tokens() const { return static_cast<int>(tokens.size()); }

  int num_output() const { return num_tokens() - num_prompt(); }

  int num_uncomputed() const { return num_tokens() - num_computed; }

  // Once admitted. The next token to be drawn has the position num_tokens().
  std::span<const TokenId> output() const {
    return std::span<const TokenId>(tokens).subspan(request->prompt.size());
  }
};

// `request` must outlive the sequence.
std::unique_ptr<Sequence> make_sequence(const Request& request, int choice);

}  // namespace rapt
