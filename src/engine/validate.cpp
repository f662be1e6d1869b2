#include <algorithm>
#include <string>

#include "engine/validate_internal.h"

namespace rapt {

namespace {

Result<void> check_id(TokenId id, int vocab_size, const char* param, const std::string& what) {
  if (id >= 0 && id < vocab_size) {
    return {};
  }
  return invalid_argument(
      what + " is " + std::to_string(id) + ", but token ids go from 0 to " +
          std::to_string(vocab_size - 1),
      param
  );
}

}  // namespace

Result<void> validate_request(Request& request, int max_model_len, int vocab_size) {
  if (request.prompt.empty()) {
    return invalid_argument("the prompt is empty; it needs at least one token", "prompt");
  }
  const std::size_t num_prompt = request.prompt.size();
  const std::size_t num_wanted = request.stop.max_tokens > 0 ? 1 : 0;
  if (num_prompt + num_wanted > static_cast<std::size_t>(max_model_len)) {
    Error error = invalid_argument(
        "this model's context holds " + std::to_string(max_model_len) +
            " tokens, but the prompt alone has " + std::to_string(num_prompt) +
            "; shorten it, or start the server with a larger --max-model-len if the model allows",
        "prompt"
    );
    error.reason = "context_length_exceeded";
    return error;
  }
  for (std::size_t idx = 0; idx < num_prompt; ++idx) {
    RETURN_IF_ERROR(
        check_id(request.prompt[idx], vocab_size, "prompt", "prompt token " + std::to_string(idx))
    );
  }
  for (const auto& [id, bias] : request.sampling.logit_bias) {
    RETURN_IF_ERROR(check_id(id, vocab_size, "logit_bias", "a key of logit_bias"));
  }
  for (const TokenId id : request.stop.stop_token_ids) {
    RETURN_IF_ERROR(check_id(id, vocab_size, "stop_token_ids", "an element of stop_token_ids"));
  }
  request.stop.max_tokens =
      std::min(request.stop.max_tokens, max_model_len - static_cast<int>(num_prompt));
  request.stop.min_tokens = std::min(request.stop.min_tokens, request.stop.max_tokens);
  return {};
}

}  // namespace rapt
