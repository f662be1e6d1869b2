#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace rapt {

// What a ChatParser had to put right in a model's output, kind by kind: for a counter that shows
// how often the model gets its format wrong. The order is that of kRepairKindNames.
enum class RepairKind {
  kMissingStart,    // a message began without its start token
  kMissingMessage,  // a header ended, or a body began, without the token between them
  kMissingEnd,      // a message began inside a body
  kStrayText,       // text stood where a header should be
  kStrayControl,    // a control token stood where it means nothing
  kInvalidToken,    // an id outside the vocabulary
  kRole,            // a role other than the assistant's, or one said twice
  kChannel,         // no channel, an unknown one, or several
  kHeaderWord,      // a word that no header has
  kRecipient,       // a recipient that is cut, empty, or lacks its namespace
  kCallChannel,     // a call on the channel of the answer
  kCallEnd,         // a call that did not end as calls do
  kCallArguments,   // a call whose arguments are no JSON
  kUndeclaredTool,  // a call to a tool that nobody declared
};

inline constexpr std::size_t kNumRepairKinds = 14;

// Names for a metric's label.
inline constexpr std::array<std::string_view, kNumRepairKinds> kRepairKindNames = {
    "missing_start",
    "missing_message",
    "missing_end",
    "stray_text",
    "stray_control",
    "invalid_token",
    "role",
    "channel",
    "header_word",
    "recipient",
    "call_channel",
    "call_end",
    "call_arguments",
    "undeclared_tool",
};

// How often each kind was needed, in the order of RepairKind.
using RepairCounts = std::array<int, kNumRepairKinds>;

}  // namespace rapt
