#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "request/request.h"
#include "tensor/stream.h"

namespace rapt {

// What drawing one token depends on; nothing else can change the outcome.
struct SamplerRow {
  std::span<const float> logits;  // [vocab_size], as the model gave them; not changed
  const SamplingParams* params = nullptr;
  const StopRules* stop = nullptr;
  int choice = 0;
  int position = 0;  // of the token to be drawn: the number of tokens before it
  std::span<const TokenId> prompt = {};
  std::span<const TokenId> output = {};
  std::span<const std::uint32_t> allowed =
      {};  // bit i of word i/32: token i may come; empty: all may
};

struct SamplerResult {
  SampledToken sampled;
  std::string error;  // not empty: this row has no token, and why
};

// Turns logits into tokens. A row's token depends on that row alone: not on its neighbours, the
// thread or earlier calls, since the one random number it needs is a function of (seed, choice,
// position). Owned by the engine's runner, engine thread only (rows are spread over the pool).
// Allocates at construction and on errors only, once each row has had its top_logprobs.
//
// In order: raw log-probabilities if asked for; logit_bias; penalties; forbidden tokens (the
// constraint's, and ends before min_tokens); then the best token if greedy, else temperature,
// min_p, top_k, top_p, and one draw from what is left, walking the tokens in ascending id.
// Among equal logits the lower id is the better.
class Sampler {
 public:
  // Serves up to `max_rows` rows a call. The stream's pool outlives the sampler.
  Sampler(int vocab_size, int max_rows, const Stream& stream);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // One result a row, valid until the next call.
  std::span<const SamplerResult> sample(std::span<const SamplerRow> rows);

 private:
  struct Scratch;

  Stream stream_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one a thread
  std::vector<SamplerResult> results_;
};

}  // namespace rapt
