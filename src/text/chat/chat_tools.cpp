#include "text/chat/chat_tools.h"

#include <cstddef>

namespace rapt {

void add_deltas(std::vector<ToolCall>& calls, std::span<const ToolCallDelta> deltas) {
  for (const ToolCallDelta& delta : deltas) {
    const auto call_idx = static_cast<std::size_t>(delta.index);
    if (call_idx >= calls.size()) {
      calls.resize(call_idx + 1);
    }
    ToolCall& call = calls[call_idx];
    call.id += delta.id;
    call.name += delta.name;
    call.arguments += delta.arguments;
  }
}

}  // namespace rapt
