#include <array>
#include <deque>
#include <string_view>

#include "text/chat/harmony/harmony_strict_header_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kChannelText = "<|channel|>";
constexpr std::string_view kRecipientMark = "to=";

// Unicode's White_Space, as UTF-8.
constexpr std::array<std::string_view, 25> kUnicodeBlanks = {
    "\t",           "\n",           "\v",           "\f",           "\r",           " ",
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82",
    "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88",
    "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F",
    "\xE3\x80\x80"};

// The length of the blank that `text` begins or ends with; 0 when there is none.
std::size_t leading_blank(std::string_view text) {
  for (const std::string_view blank : kUnicodeBlanks) {
    if (text.starts_with(blank)) {
      return blank.size();
    }
  }
  return 0;
}

std::size_t trailing_blank(std::string_view text) {
  for (const std::string_view blank : kUnicodeBlanks) {
    if (text.ends_with(blank)) {
      return blank.size();
    }
  }
  return 0;
}

std::string_view trim(std::string_view text) {
  while (const std::size_t size = leading_blank(text)) {
    text.remove_prefix(size);
  }
  while (const std::size_t size = trailing_blank(text)) {
    text.remove_suffix(size);
  }
  return text;
}

// Takes the first channel part out of `text`.
Result<std::optional<std::string>> cut_channel(std::string& text) {
  const std::size_t begin = text.find(kChannelText);
  if (begin == std::string::npos) {
    return std::optional<std::string>();
  }
  const std::string_view behind = std::string_view(text).substr(begin + kChannelText.size());
  std::size_t size = 0;
  while (size < behind.size() && behind[size] != '<' && leading_blank(behind.substr(size)) == 0) {
    ++size;
  }
  if (size == 0) {
    return invalid_argument("a header has a channel marker without a channel");
  }
  std::string channel(behind.substr(0, size));
  text.erase(begin, kChannelText.size() + size);
  return std::optional<std::string>(std::move(channel));
}

std::string with_blank_before_constrain(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t found = text.find(kHarmonyConstrainText); found != std::string_view::npos;
       found = text.find(kHarmonyConstrainText, begin)) {
    out += text.substr(begin, found - begin);
    out += ' ';
    out += kHarmonyConstrainText;
    begin = found + kHarmonyConstrainText.size();
  }
  out += text.substr(begin);
  return out;
}

std::deque<std::string> split_at_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\f\r";
  std::deque<std::string> parts;
  std::size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = text.find_first_of(kBlanks, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return parts;
}

std::string without_mark(const std::string& part) {
  return part.starts_with(kRecipientMark) ? part.substr(kRecipientMark.size()) : part;
}

// Sets role and name, and takes the part that names them.
Result<void> take_role(
    std::deque<std::string>& parts, std::optional<HarmonyRole> known, HarmonyParsedMessage& message
) {
  std::optional<HarmonyRole> role = known;
  if (!role) {
    if (parts.empty()) {
      return invalid_argument("a header has no role");
    }
    const std::string first = parts.front();
    role = harmony_role_called(first);
    if (!role) {
      if (parts.size() == 1 && !first.starts_with(kRecipientMark)) {
        return invalid_argument("a header has the unknown role '" + first + "'");
      }
      role = HarmonyRole::kTool;
      parts.pop_front();
    }
    if (role == HarmonyRole::kTool) {
      message.name = first;
    }
  }
  message.role = harmony_role_name(*role);
  if (!parts.empty() && parts.front() == message.role) {
    parts.pop_front();
  }
  return {};
}

}  // namespace

Result<HarmonyParsedMessage> parse_harmony_header_strictly(
    std::string text, std::optional<HarmonyRole> role
) {
  HarmonyParsedMessage message;
  ASSIGN_OR_RETURN(message.channel, cut_channel(text));
  std::deque<std::string> parts = split_at_blanks(trim(with_blank_before_constrain(trim(text))));
  RETURN_IF_ERROR(take_role(parts, role, message));
  if (parts.size() > 2 || (parts.size() == 2 && parts.back().starts_with(kRecipientMark))) {
    return invalid_argument("a header has a word too many: '" + parts.front() + "'");
  }
  // A lone word is a recipient, with its mark or not.
  if (!parts.empty()) {
    message.recipient = without_mark(parts.front());
  }
  if (parts.size() == 2) {
    message.content_type = parts.back();
  }
  return message;
}

}  // namespace rapt
