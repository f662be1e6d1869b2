#pragma once

#include <vector>

#include "text/tokenizer.h"

namespace rapt {

// The control tokens that end a turn or a text in every model that has them, found by name. For
// GGUF files, which often name one end of several: "</s>" or "<|end_of_text|>", where a
// conversation's turns end in "<|im_end|>" or "<|eot_id|>".
std::vector<TokenId> named_end_tokens(const Tokenizer& tokenizer);

}  // namespace rapt
