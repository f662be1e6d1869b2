#pragma once

#include <memory>

#include "base/result.h"
#include "text/chat/chat_format.h"
#include "text/chat/chat_templates.h"
#include "text/tokenizer.h"

namespace rapt::jinja {

// The format that a model's own templates define. A template that cannot be read is an error of
// each prompt, so that such a model can still complete texts. `tokenizer` must outlive it.
Result<std::unique_ptr<ChatFormat>> make_jinja_format(
    const Tokenizer& tokenizer, const ChatTemplates& templates
);

}  // namespace rapt::jinja
