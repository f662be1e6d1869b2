#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/chat/chat_message.h"
#include "text/chat/harmony/harmony_message_internal.h"
#include "text/chat/harmony/harmony_tool_names_internal.h"

namespace rapt {

// Writes a client's messages as Harmony messages, one after the other:
//
//   user                     -> user
//   assistant                -> its reasoning on analysis, its content on final
//   assistant with calls     -> its content on commentary, its reasoning on analysis, and each call
//                               on commentary, to functions.NAME
//   tool                     -> a message from functions.NAME to the assistant, where NAME is that
//                               of the call it answers
//
// Calls are found by their ids. A result without an id answers the first open call (of its name,
// if it has one): many agents leave ids out. An id that no call has is an error.
class HarmonyHistory {
 public:
  // Appends to `out`. Both must outlive this.
  HarmonyHistory(const HarmonyToolNames& names, HarmonyConversation& out)
      : names_(names), out_(out) {}

  // No system or developer message. `message_idx` is for what the error says.
  Result<void> append(const ChatMessage& message, std::size_t message_idx);

 private:
  struct OpenCall {
    std::string id;
    std::string name;  // the client's
    bool is_answered = false;
  };

  Result<void> append_assistant(const ChatMessage& message, std::size_t message_idx);
  Result<void> append_result(const ChatMessage& message, std::size_t message_idx);
  OpenCall* find_call(const ChatMessage& result);

  const HarmonyToolNames& names_;
  HarmonyConversation& out_;
  std::vector<OpenCall> calls_;
};

}  // namespace rapt
