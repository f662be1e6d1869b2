#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "request/request.h"
#include "server/api/api_context_internal.h"
#include "server/api/choice_decoder_internal.h"
#include "server/api/openai/answer_parts_internal.h"
#include "server/api/openai/generation_params_internal.h"

namespace rapt::openai {

// The engine's request for one prompt, checked by the engine. Ends and stop matchers are the
// caller's to fill in `stop` beforehand; `prompt_param` is the field that errors about the prompt
// name.
Result<Request> make_request(
    ApiContext& context,
    const GenerationParams& params,
    std::vector<TokenId> prompt,
    StopRules stop,
    const std::string& prompt_param
);

// Token ids in the request's parameters that the model does not have.
Result<void> check_vocabulary(const ApiContext& context, const GenerationParams& params);

// The rules that the parameters state; the token limit is as large as can be when there is none.
StopRules make_stop_rules(const GenerationParams& params);

DecoderOptions make_decoder_options(const GenerationParams& params);

AnswerOptions make_answer_options(
    const ApiContext& context, const GenerationParams& params, const std::string& id_prefix
);

}  // namespace rapt::openai
