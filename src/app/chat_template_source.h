#pragma once

#include <string>

#include "base/result.h"
#include "text/chat/chat_templates.h"
#include "text/tokenizer.h"

namespace rapt {

// The chat templates of the checkpoint at `path` (a folder or a GGUF file), with the special tokens
// that they may name; empty when it brings none. `tokenizer` is the checkpoint's. A file
// `replacement`, unless it is "", takes the place of the templates.
Result<ChatTemplates> load_chat_templates(
    const std::string& path, const Tokenizer& tokenizer, const std::string& replacement
);

}  // namespace rapt
