#pragma once

#include <memory>

#include "base/result.h"
#include "text/chat/chat_format.h"

namespace rapt {

// gpt-oss' chat format. `tokenizer` must have Harmony's control tokens and outlive the result.
Result<std::unique_ptr<ChatFormat>> make_harmony_format(const Tokenizer& tokenizer);

}  // namespace rapt
