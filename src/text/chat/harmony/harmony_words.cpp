#include <algorithm>
#include <array>
#include <cstddef>

#include "text/chat/harmony/harmony_message_internal.h"
#include "text/chat/harmony/harmony_words_internal.h"

namespace rapt {

namespace {

constexpr std::array<std::string_view, 3> kChannels = {
    kHarmonyAnalysis, kHarmonyCommentary, kHarmonyFinal};
constexpr std::array<std::string_view, 4> kRoles = {"assistant", "user", "developer", "system"};
constexpr std::array<std::string_view, 4> kParticipants = {"assistant", "user", "all", "none"};
constexpr std::array<std::string_view, 2> kContentTypes = {"json", "code"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

template <std::size_t size>
std::string_view leading_name(
    std::string_view text, const std::array<std::string_view, size>& names
) {
  for (const std::string_view name : names) {
    if (text.starts_with(name)) {
      return name;
    }
  }
  return {};
}

template <std::size_t size>
bool begins_one_of(const std::array<std::string_view, size>& names, std::string_view begin) {
  return std::any_of(names.begin(), names.end(), [begin](std::string_view name) {
    return name.starts_with(begin);
  });
}

}  // namespace

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kHarmonyBlanks) == std::string_view::npos;
}

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kHarmonyBlanks), text.size()));
  return text;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trim_left(text); !text.empty(); text = trim_left(text)) {
    const std::size_t end = std::min(text.find_first_of(kHarmonyBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::string_view leading_role(std::string_view text) {
  return leading_name(text, kRoles);
}

std::string_view leading_channel(std::string_view text) {
  return leading_name(text, kChannels);
}

HarmonyChannelName read_channel_name(std::string_view text) {
  std::string_view word = text;
  word.remove_prefix(
      static_cast<std::size_t>(std::find_if(word.begin(), word.end(), is_letter) - word.begin())
  );
  const std::string_view name = leading_channel(word);
  if (name.empty()) {
    return {name, text, false};
  }
  const std::string_view rest = word.substr(name.size());
  const bool ends_clean = rest.empty() || kHarmonyBlanks.find(rest[0]) != std::string_view::npos;
  return {name, rest, word.size() == text.size() && ends_clean};
}

std::string_view recipient_of(std::string_view word) {
  word.remove_prefix(kHarmonyRecipientMark.size());
  return word.substr(0, std::min(word.find("<|"), word.size()));
}

bool is_tool_recipient(std::string_view recipient) {
  return !recipient.empty() &&
         std::find(kParticipants.begin(), kParticipants.end(), recipient) == kParticipants.end();
}

bool is_content_type(std::string_view word) {
  return std::find(kContentTypes.begin(), kContentTypes.end(), word) != kContentTypes.end();
}

bool is_header_word(std::string_view word) {
  return word.starts_with(kHarmonyRecipientMark) || !leading_role(word).empty() ||
         !leading_channel(word).empty();
}

bool may_become_header_word(std::string_view word) {
  return is_header_word(word) || kHarmonyRecipientMark.starts_with(word) ||
         begins_one_of(kRoles, word) || begins_one_of(kChannels, word);
}

std::optional<std::string> take_recipient(std::string_view& text) {
  const std::string_view word = trim_left(text);
  if (!word.starts_with(kHarmonyRecipientMark)) {
    return std::nullopt;
  }
  const std::size_t end = std::min(
      {word.size(), word.find_first_of(kHarmonyBlanks), word.find_first_of(kHarmonyBodyOnly)}
  );
  const std::string_view name = recipient_of(word.substr(0, end));
  if (name.empty()) {
    return std::nullopt;
  }
  text = word.substr(end);
  return std::string(name);
}

std::optional<std::string> take_content_type(std::string_view& text, bool is_for_tool) {
  const std::string_view word = trim_left(text);
  const std::string_view type = leading_name(word, kContentTypes);
  if (type.empty()) {
    return std::nullopt;
  }
  const std::string_view rest = word.substr(type.size());
  const bool is_before_body =
      !rest.empty() && kHarmonyBodyOnly.find(rest[0]) != std::string_view::npos;
  const bool is_whole_word = rest.empty() || kHarmonyBlanks.find(rest[0]) != std::string_view::npos;
  if (!is_before_body && !(is_for_tool && is_whole_word)) {
    return std::nullopt;
  }
  text = rest;
  return std::string(type);
}

bool is_cut_channel(std::string_view text) {
  return !text.empty() && begins_one_of(kChannels, text);
}

bool is_cut_recipient(std::string_view text) {
  const std::string_view word = trim_left(text);
  return !word.empty() && word.size() < text.size() && kHarmonyRecipientMark.starts_with(word);
}

}  // namespace rapt
