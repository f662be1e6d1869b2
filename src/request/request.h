#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// The values that all parts of Rapt agree on: what was asked (Request) and what comes back
// (TokenEvent). Immutable once submitted; no part here knows JSON, chat formats or kernels.

namespace rapt {

using TokenId = std::int32_t;
using RequestId = std::uint64_t;

// How to turn logits into a token. Names, meaning and order of the filters are vLLM's:
// logit_bias, penalties, masks -> temperature -> min_p -> top_k -> top_p -> draw.
struct SamplingParams {
  float temperature = 1.0F;  // 0: greedy (ties go to the lower id)
  float top_p = 1.0F;        // (0, 1]; 1 keeps all
  int top_k = 0;             // 0 keeps all
  float min_p = 0.0F;        // [0, 1]; keep tokens with p >= min_p * p_max
  float frequency_penalty = 0.0F;
  float presence_penalty = 0.0F;
  float repetition_penalty = 1.0F;  // > 0; 1 is off; counts prompt and output, as vLLM does
  std::uint64_t seed = 0;           // the caller fills in a random one when none was asked for
  std::vector<std::pair<TokenId, float>> logit_bias = {};
  // When set, log-probabilities of the drawn token and of this many best tokens are returned,
  // taken from the raw logits (before any filter), as vLLM does by default.
  std::optional<int> num_logprobs = {};
};

// Watches the produced tokens of one choice and says when the text has reached a stop string.
// Owned by one sequence, called on the engine thread only, one call a token, in order.
class StopMatcher {
 public:
  virtual ~StopMatcher() = default;
  // Index into the request's stop strings that this token completes, or nothing.
  // A hit before min_tokens is ignored and the calls go on, so a matcher must find later ones too.
  virtual std::optional<int> accept(TokenId token) = 0;
};

// Restricts what may be drawn next (grammar, forced header). One a choice; engine thread only.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // Clears the bit of each token that may not come next; bit i of word i/32 stands for token i.
  virtual void fill_mask(std::span<std::uint32_t> mask) = 0;
  virtual void accept(TokenId token) = 0;
  virtual void rollback(int num_tokens) = 0;
};

// When a choice ends.
struct StopRules {
  int max_tokens = 16;  // produced tokens, at least 0
  int min_tokens = 0;   // until then no stop rule fires and stop ids cannot be drawn
  bool ignore_eos = false;
  std::vector<TokenId> eos_token_ids = {};   // the model's own ends; ignored when ignore_eos
  std::vector<TokenId> stop_token_ids = {};  // asked for by the caller
  // Makes one matcher a choice; empty when the request has no stop strings.
  std::function<std::unique_ptr<StopMatcher>()> make_stop_matcher = {};
};

// Receives logits as they are computed: (choice, position, [vocab_size] row). Engine thread; the
// row is gone after the call. For `rapt logits` and tests.
using LogitsTap = std::function<void(int, int, std::span<const float>)>;

struct Request {
  RequestId id = 0;       // unique in the process
  std::string client_id;  // what the client sees in logs and headers ("chatcmpl-...")
  std::vector<TokenId> prompt;
  SamplingParams sampling;
  StopRules stop;
  int num_choices = 1;  // choice c draws with the key (seed, c, position)
  // Makes one constraint a choice; empty when the output is free.
  std::function<std::unique_ptr<TokenConstraint>()> make_constraint;
  LogitsTap logits_tap;            // optional
  bool tap_all_positions = false;  // tap prompt positions too, not only the drawn ones
  int rope_position_offset = 0;    // added to the positions that RoPE sees; a test aid
};

enum class FinishReason {
  kStop,    // an end or stop token, or a stop string
  kLength,  // max_tokens, or the context is full
  kAbort,   // cancelled
  kError,   // the engine could not go on with this request; `error` says why
};

struct TokenLogprob {
  TokenId token = 0;
  float logprob = 0.0F;  // finite: clamped to at least -9999
  int rank = 0;          // 1 is the most likely
};

// A token that was drawn, and what was asked to be said about it.
struct SampledToken {
  TokenId token = 0;
  std::optional<TokenLogprob> logprob = {};
  std::vector<TokenLogprob> top_logprobs = {};  // best first
};

// How a choice ended.
struct FinishInfo {
  FinishReason reason = FinishReason::kStop;
  std::optional<TokenId> stop_token = {};  // the id that ended it; it is part of the output
  std::optional<int> stop_string = {};     // index into the request's stop strings
  std::string error = {};                  // kError: one sentence
};

// One thing that happened to one choice: a token, an end, or both at once.
struct TokenEvent {
  RequestId request_id = 0;
  int choice = 0;
  std::optional<TokenId> token;
  std::optional<TokenLogprob> logprob;     // of `token`, when asked for
  std::vector<TokenLogprob> top_logprobs;  // best first, when asked for
  std::optional<FinishInfo> finish;        // exactly once a choice, in its last event
};

// Where a request's events go. Called on the engine thread: must not block and must not call back
// into the engine. Events of one choice come in order.
class TokenSink {
 public:
  virtual ~TokenSink() = default;
  virtual void on_event(const TokenEvent& event) = 0;
};

}  // namespace rapt
