#pragma once

#include "base/json.h"
#include "base/result.h"
#include "text/chat/harmony/harmony_message_internal.h"

namespace rapt {

// A conversation in the JSON form of OpenAI's library: {"messages": [{role, name?, recipient?,
// channel?, content_type?, content}]}, where the content is a text or a list of parts, some of them
// structured (README.md has the whole form). null stands for an absent field, unknown keys are
// ignored. Errors say which message is at fault.
//
// `drops_analysis` asks for that library's rule: when the assistant's last message is on final,
// analysis before the first message on final goes. (A chat prompt drops more: harmony_prompt.)
Result<HarmonyConversation> read_harmony_conversation(
    const json::value& value, bool drops_analysis
);

}  // namespace rapt
