#pragma once

#include <functional>
#include <memory>

#include "request/request.h"
#include "text/chat/chat_message.h"
#include "text/chat/harmony/harmony_message_internal.h"
#include "text/tokenizer.h"

namespace rapt {

// Makes constraints that keep the model to a tool choice "required" or "named"; empty for the
// others, under which the output is free. Headers are held to the forms that gpt-oss writes itself,
//
//   CHANNEL analysis MESSAGE                    thinking, to END
//   CHANNEL commentary MESSAGE                  words to the user, to END
//   CHANNEL commentary to=functions.NAME [type] MESSAGE
//   to=functions.NAME CHANNEL commentary [type] MESSAGE       a call, to CALL
//
// with no `final`, and names of chosen tools only. Bodies are free, but no control token stands in
// them. The model may think and talk first, a few messages; then it must call. So a turn that is
// not cut by its length ends with a call. `options` are checked; `tokenizer` must outlive the call
// only.
std::function<std::unique_ptr<TokenConstraint>()> make_harmony_constraint(
    const Tokenizer& tokenizer, const HarmonyTokens& tokens, const ChatOptions& options
);

}  // namespace rapt
