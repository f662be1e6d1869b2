#pragma once

#include "base/result.h"
#include "request/request.h"

namespace rapt {

// The checks of Engine::validate() that need no engine. Lowers max_tokens to what the context
// leaves, and min_tokens to max_tokens.
Result<void> validate_request(Request& request, int max_model_len, int vocab_size);

}  // namespace rapt
