#pragma once

#include <string>
#include <string_view>

namespace rapt {

enum class MessageLevel { kInfo, kWarning };

constexpr std::string_view name_of(MessageLevel level) {
  return level == MessageLevel::kInfo ? "info" : "warning";
}

// Something the user should read once, at start: full sentences, to be logged as they are.
struct AttentionMessage {
  MessageLevel level = MessageLevel::kInfo;
  std::string text;

  friend bool operator==(const AttentionMessage&, const AttentionMessage&) = default;
};

}  // namespace rapt
