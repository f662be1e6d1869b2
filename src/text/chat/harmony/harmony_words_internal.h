#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rapt {

// What a Harmony header is made of, seen as text: roles, channels, " to=" and a name, content
// types. All of them look at text that a model wrote, and take it as it comes.

inline constexpr std::string_view kHarmonyBlanks = " \t\n\f\r";
inline constexpr std::string_view kHarmonyRecipientMark = "to=";
// A header's words never hold these; a body that begins without MESSAGE often begins with one.
inline constexpr std::string_view kHarmonyBodyOnly = "\"'`{}[]()";

bool is_blank(std::string_view text);
std::string_view trim_left(std::string_view text);
std::vector<std::string_view> split_words(std::string_view text);

// The role ("assistant", ...) that `text` begins with, or "".
std::string_view leading_role(std::string_view text);
// The channel's name that `text` begins with, or "".
std::string_view leading_channel(std::string_view text);

struct HarmonyChannelName {
  std::string_view name;  // "" when the text begins with no known one
  std::string_view rest;  // what follows it, or the whole text
  bool is_clean = false;  // nothing stood before it, and a blank or nothing follows
};

// "commentary", with what the model is known to put before it: dashes, question marks, blanks.
HarmonyChannelName read_channel_name(std::string_view text);

// "to=functions.x<|constrain|>json" -> "functions.x"; "" when no name is left.
std::string_view recipient_of(std::string_view word);

// Whether a message to `recipient` is for a tool, not for somebody who takes part in the talk.
bool is_tool_recipient(std::string_view recipient);

// "json", "code".
bool is_content_type(std::string_view word);

bool is_header_word(std::string_view word);
// The same for a word of which only the begin may have come.
bool may_become_header_word(std::string_view word);

// Takes " to=NAME" from the begin of `text`, if it stands there.
std::optional<std::string> take_recipient(std::string_view& text);
// Takes "json" or "code" from the begin of `text`, if a bracket or a quote follows it; in a message
// to a tool, where no prose is expected, also if a blank or nothing does.
std::optional<std::string> take_content_type(std::string_view& text, bool is_for_tool);
// Whether `text` is the begin of a channel's name, or of " to=", cut short.
bool is_cut_channel(std::string_view text);
bool is_cut_recipient(std::string_view text);

}  // namespace rapt
