#include <algorithm>
#include <limits>

#include "base/check.h"
#include "sampling/logits_edit_internal.h"

namespace rapt {

namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kNever = -std::numeric_limits<float>::infinity();

bool is_token(TokenId token, std::size_t vocab_size) {
  return token >= 0 && static_cast<std::size_t>(token) < vocab_size;
}

bool has_output_penalty(const SamplingParams& params) {
  return params.frequency_penalty != 0.0F || params.presence_penalty != 0.0F;
}

bool is_before_min_tokens(const SamplerRow& row) {
  return row.output.size() < static_cast<std::size_t>(std::max(row.stop->min_tokens, 0));
}

void add_bias(const SamplingParams& params, std::span<float> logits) {
  for (const auto& [token, bias] : params.logit_bias) {
    if (is_token(token, logits.size())) {
      float& logit = logits[static_cast<std::size_t>(token)];
      logit = std::min(logit + bias, kLargest);
    }
  }
}

// Calls visit(token) once for each different token of the texts, using `counts` to tell.
template <typename Visit>
void for_each_distinct(
    std::span<const TokenId> first,
    std::span<const TokenId> second,
    std::span<std::uint32_t> counts,
    Visit&& visit
) {
  for (const std::span<const TokenId> text : {first, second}) {
    for (const TokenId token : text) {
      if (is_token(token, counts.size()) && counts[static_cast<std::size_t>(token)]++ == 0) {
        visit(static_cast<std::size_t>(token));
      }
    }
  }
}

void clear_counts(std::span<const TokenId> text, std::span<std::uint32_t> counts) {
  for (const TokenId token : text) {
    if (is_token(token, counts.size())) {
      counts[static_cast<std::size_t>(token)] = 0;
    }
  }
}

void penalise_repetition(
    const SamplerRow& row, std::span<float> logits, std::span<std::uint32_t> counts
) {
  const float penalty = row.params->repetition_penalty;
  for_each_distinct(row.prompt, row.output, counts, [&](std::size_t token) {
    const float logit = logits[token];
    logits[token] = std::min(logit > 0.0F ? logit / penalty : logit * penalty, kLargest);
  });
  clear_counts(row.prompt, counts);
  clear_counts(row.output, counts);
}

void penalise_output(
    const SamplerRow& row, std::span<float> logits, std::span<std::uint32_t> counts
) {
  for_each_distinct(row.output, {}, counts, [](std::size_t) {});
  for (const TokenId token : row.output) {
    if (!is_token(token, logits.size())) {
      continue;
    }
    std::uint32_t& count = counts[static_cast<std::size_t>(token)];
    if (count > 0) {
      float& logit = logits[static_cast<std::size_t>(token)];
      logit -= row.params->frequency_penalty * static_cast<float>(count);
      logit = std::min(logit - row.params->presence_penalty, kLargest);
      count = 0;
    }
  }
}

void forbid(std::span<const TokenId> tokens, std::span<float> logits) {
  for (const TokenId token : tokens) {
    if (is_token(token, logits.size())) {
      logits[static_cast<std::size_t>(token)] = kNever;
    }
  }
}

void forbid_unset(std::span<const std::uint32_t> allowed, std::span<float> logits) {
  CHECK(allowed.size() >= (logits.size() + 31) / 32, "mask of ", allowed.size(), " words");
  for (std::size_t token = 0; token < logits.size(); ++token) {
    if ((allowed[token / 32] >> (token % 32) & 1U) == 0) {
      logits[token] = kNever;
    }
  }
}

}  // namespace

bool needs_edit(const SamplerRow& row) {
  return !row.params->logit_bias.empty() || row.params->repetition_penalty != 1.0F ||
         has_output_penalty(*row.params) || !row.allowed.empty() || is_before_min_tokens(row);
}

void edit_logits(const SamplerRow& row, std::span<float> logits, std::span<std::uint32_t> counts) {
  add_bias(*row.params, logits);
  if (row.params->repetition_penalty != 1.0F) {
    penalise_repetition(row, logits, counts);
  }
  if (has_output_penalty(*row.params)) {
    penalise_output(row, logits, counts);
  }
  if (!row.allowed.empty()) {
    forbid_unset(row.allowed, logits);
  }
  if (is_before_min_tokens(row)) {
    // The model's own ends too when they are ignored as ends, as vLLM does: an end in the middle of
    // a text that must go on only derails it.
    forbid(row.stop->eos_token_ids, logits);
    forbid(row.stop->stop_token_ids, logits);
  }
}

}  // namespace rapt
