#pragma once

#include <span>

#include "base/result.h"
#include "text/chat/chat_message.h"
#include "text/chat/harmony/harmony_message_internal.h"

namespace rapt {

// A client's conversation as Harmony messages: the generated system message, a developer message
// with the instructions of the first message (if it is system or developer) and the tools, and the
// rest as HarmonyHistory writes it. Later system and developer messages become developer messages
// of their own, all under "# Instructions"; an empty one is left out, and so are the tools under
// tool choice none.
//
// Reasoning that a later final answer has used up is left out, as the model was trained: all of it
// before the last message on final. In a turn that is still open (calls and their results, and no
// answer yet) it stays.
Result<HarmonyConversation> to_harmony_conversation(
    std::span<const ChatMessage> messages, const ChatOptions& options
);

}  // namespace rapt
