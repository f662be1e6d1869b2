#pragma once

#include <span>

#include "base/result.h"
#include "text/chat/chat_message.h"
#include "text/chat/harmony/harmony_message_internal.h"

namespace rapt {

// A client's conversation as Harmony messages, the generated system message first:
//
//   system, developer -> developer, under "# Instructions"; left out when empty
//   user              -> user
//   assistant         -> its reasoning on analysis, its content on final
//
// Reasoning that a later final answer has used up is left out, as the model was trained: all of it
// before the last message on final.
Result<HarmonyConversation> to_harmony_conversation(
    std::span<const ChatMessage> messages, const ChatOptions& options
);

}  // namespace rapt
