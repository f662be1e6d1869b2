#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "request/request.h"
#include "server/api/openai/field_reader_internal.h"

namespace rapt::openai {

// The limits of one call, where OpenAI or vLLM set some.
constexpr int kMaxChoices = 128;
constexpr int kMaxStopStrings = 16;
constexpr int kMaxLogprobs = 20;

// The fields that chat and text completions share, typed and checked. What depends on the engine
// (context, vocabulary) is checked by Engine::validate.
struct GenerationParams {
  std::string model;  // "" when absent: the served model
  SamplingParams sampling;
  std::optional<std::uint64_t> seed;
  std::optional<int> max_tokens;
  int min_tokens = 0;
  int num_choices = 1;
  bool ignore_eos = false;
  std::vector<std::string> stop_strings;
  std::vector<TokenId> stop_token_ids;
  bool include_stop_string = false;  // keep what ended the text in the text
  bool skip_special_tokens = true;
  bool return_token_ids = false;
  bool stream = false;
  bool include_usage = false;           // a usage chunk at the end of the stream
  bool continuous_usage_stats = false;  // usage in every chunk
};

// Reads all of them but the token limit, whose names and bounds differ between the dialects.
// `defaults` are for what the request does not say about sampling.
GenerationParams read_generation_params(FieldReader& fields, const SamplingParams& defaults);

// A token limit field: nothing when absent, else `min` or more. Limits beyond any context are cut.
std::optional<int> read_token_limit(FieldReader& fields, std::string_view name, int min);

// Refuses fields that would change the answer but are not supported, unless they hold a value that
// asks for nothing (false, empty, the default). Ignoring them would answer another question.
void refuse_unsupported_fields(FieldReader& fields);

}  // namespace rapt::openai
