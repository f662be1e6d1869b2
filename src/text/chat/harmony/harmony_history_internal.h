#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
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
  // Calls of one id or name, by their index, in order.
  struct CallQueue {
    std::vector<std::size_t> calls;
    std::size_t next = 0;  // those before it are answered or belong to an older turn
  };

  Result<void> append_assistant(const ChatMessage& message, std::size_t message_idx);
  Result<void> append_result(const ChatMessage& message, std::size_t message_idx);
  void add_call(const ToolCall& call);
  std::optional<std::size_t> find_call(const ChatMessage& result);
  std::optional<std::size_t> next_open(CallQueue& queue) const;

  const HarmonyToolNames& names_;
  HarmonyConversation& out_;
  std::vector<std::string> call_names_;  // the client's, one a call
  std::vector<bool> is_answered_;        // one a call
  std::size_t first_of_turn_ = 0;        // the first call behind the last user message
  CallQueue all_;
  std::unordered_map<std::string, CallQueue> by_id_;
  std::unordered_map<std::string, CallQueue> by_name_;
};

}  // namespace rapt
