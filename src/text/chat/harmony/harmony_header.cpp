#include <algorithm>
#include <array>
#include <utility>

#include "text/chat/harmony/harmony_header_internal.h"
#include "text/chat/harmony/harmony_message_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kBlanks = " \t\n\f\r";
constexpr std::string_view kRecipientMark = "to=";
// A header's words never hold these; a body that begins without MESSAGE often begins with one.
constexpr std::string_view kBodyOnly = "\"'`{}[]()";
constexpr std::array<std::string_view, 3> kChannels = {
    kHarmonyAnalysis, kHarmonyCommentary, kHarmonyFinal};
constexpr std::array<std::string_view, 4> kRoles = {"assistant", "user", "developer", "system"};

// More words than that (recipient, content type and two of noise) are no header but a sentence,
// and so is a longer text.
constexpr std::size_t kMaxWords = 4;
constexpr std::size_t kMaxHeaderBytes = 256;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trim_left(text); !text.empty(); text = trim_left(text)) {
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
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

struct ChannelName {
  std::string_view name;  // "" when the text begins with no known one
  std::string_view rest;  // what follows it, or the whole text
};

// "commentary", with what the model is known to put before it: dashes, question marks, blanks.
ChannelName read_channel_name(std::string_view text) {
  std::string_view word = text;
  word.remove_prefix(
      static_cast<std::size_t>(std::find_if(word.begin(), word.end(), is_letter) - word.begin())
  );
  const std::string_view name = leading_name(word, kChannels);
  return {name, name.empty() ? text : word.substr(name.size())};
}

// "to=functions.x<|constrain|>json" -> "functions.x"; "" when no name is left.
std::string_view recipient_of(std::string_view word) {
  word.remove_prefix(kRecipientMark.size());
  return word.substr(0, std::min(word.find("<|"), word.size()));
}

bool is_known_word(std::string_view word) {
  return word.starts_with(kRecipientMark) || !leading_name(word, kRoles).empty() ||
         !leading_name(word, kChannels).empty();
}

bool may_become_known_word(std::string_view word) {
  const auto begins_with_word = [word](std::string_view name) { return name.starts_with(word); };
  return is_known_word(word) || begins_with_word(kRecipientMark) ||
         std::any_of(kRoles.begin(), kRoles.end(), begins_with_word) ||
         std::any_of(kChannels.begin(), kChannels.end(), begins_with_word);
}

// Takes " to=NAME" from the begin of `text`, if it stands there.
std::optional<std::string> take_recipient(std::string_view& text) {
  const std::string_view word = trim_left(text);
  if (!word.starts_with(kRecipientMark)) {
    return std::nullopt;
  }
  const std::size_t end =
      std::min({word.size(), word.find_first_of(kBlanks), word.find_first_of(kBodyOnly)});
  const std::string_view name = recipient_of(word.substr(0, end));
  if (name.empty()) {
    return std::nullopt;
  }
  text = word.substr(end);
  return std::string(name);
}

}  // namespace

void HarmonyHeaderText::add_text(std::string_view bytes) {
  Section& section = sections_.back();
  (section.constrained ? *section.constrained : section.text) += bytes;
}

void HarmonyHeaderText::add_channel() {
  if (sections_.size() == 1 || !is_blank(sections_.back().text)) {
    sections_.emplace_back();
  }
}

void HarmonyHeaderText::add_constrain() {
  if (!sections_.back().constrained) {
    sections_.back().constrained.emplace();
  }
}

// The first section without the role at its begin; `role` is set when there is one.
std::string_view HarmonyHeaderText::strip_role(std::string& role) const {
  std::string_view text = trim_left(sections_[0].text);
  std::string_view known = leading_name(text, kRoles);
  if (known.empty() && has_start_ && !text.starts_with(kRecipientMark)) {
    // A tool's name. (Or text where a role should be; then there will be no MESSAGE.)
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    role = end > 0 ? std::string(text.substr(0, end)) : role;
    return text.substr(end);
  }
  while (!known.empty()) {
    role = known;
    text.remove_prefix(known.size());
    known = leading_name(text, kRoles);
  }
  return text;
}

// Before CHANNEL only words that belong into a header may stand, and one that is still growing
// must be the begin of such a word. A content type may follow a recipient or CONSTRAIN.
bool HarmonyHeaderText::may_be_role_section(const Section& section) const {
  std::string role;
  const std::string_view rest = strip_role(role);
  const std::vector<std::string_view> words = split_words(rest);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_growing =
        i + 1 == words.size() && rest.ends_with(words[i]) && !section.constrained;
    if (!(is_growing ? may_become_known_word(words[i]) : is_known_word(words[i]))) {
      return false;
    }
    if (words[i].starts_with(kRecipientMark)) {
      return true;
    }
  }
  return true;
}

bool HarmonyHeaderText::may_be_header() const {
  const Section& section = sections_.back();
  const std::string_view constrained =
      section.constrained ? std::string_view(*section.constrained) : std::string_view();
  if (section.text.size() + constrained.size() > kMaxHeaderBytes) {
    return false;
  }
  std::string_view words = section.text;
  if (sections_.size() > 1) {
    words = read_channel_name(section.text).rest;
  } else if (!may_be_role_section(section)) {
    return false;
  }
  for (const std::string_view part : {words, constrained}) {
    const std::size_t line_end = part.find('\n');
    const bool has_second_line =
        line_end != std::string_view::npos && !is_blank(part.substr(line_end));
    if (has_second_line || part.find_first_of(kBodyOnly) != std::string_view::npos) {
      return false;
    }
  }
  return split_words(words).size() + split_words(constrained).size() <= kMaxWords;
}

// Recipients and the content type, wherever they stand.
void HarmonyHeaderText::read_words(
    std::string_view plain, const std::optional<std::string>& constrained, HarmonyHeader& header
) {
  const auto read = [&header](std::string_view text, std::string_view type_prefix) {
    for (const std::string_view word : split_words(text)) {
      if (!word.starts_with(kRecipientMark)) {
        header.content_type = std::string(type_prefix) + std::string(word);
      } else if (const std::string_view name = recipient_of(word); !name.empty()) {
        header.recipient = std::string(name);
      }
    }
  };
  read(plain, "");
  if (constrained) {
    read(*constrained, kHarmonyConstrainText);
  }
}

HarmonyHeader HarmonyHeaderText::parse() const {
  HarmonyHeader header;
  std::string_view rest = strip_role(header.role);
  if (sections_.size() == 1) {
    // "assistantfinal", "assistant commentary to=...": the CHANNEL token is missing.
    if (const std::string_view name = leading_name(trim_left(rest), kChannels); !name.empty()) {
      header.channel = name;
      rest = trim_left(rest).substr(name.size());
    }
  }
  read_words(rest, sections_[0].constrained, header);
  for (std::size_t i = 1; i < sections_.size(); ++i) {
    const ChannelName channel = read_channel_name(sections_[i].text);
    if (!channel.name.empty()) {
      header.channel = channel.name;
    }
    // What sticks to the name, or stands in its place, is no word of its own.
    std::string_view words = channel.name.empty() ? trim_left(channel.rest) : channel.rest;
    if (!words.starts_with(kRecipientMark)) {
      words.remove_prefix(std::min(words.find_first_of(kBlanks), words.size()));
    }
    read_words(words, sections_[i].constrained, header);
  }
  return header;
}

HarmonyHeaderText::Headless HarmonyHeaderText::parse_without_message() const {
  Headless message;
  HarmonyHeader& header = message.header;
  const Section& last = sections_.back();
  std::string_view rest;
  if (sections_.size() == 1) {
    rest = strip_role(header.role);
    header.recipient = take_recipient(rest);
    // A leading "assistant" without START may be the first word of a sentence, and a word after
    // START that is no role is text.
    const bool has_role = has_start_ && !leading_name(trim_left(last.text), kRoles).empty();
    if (!header.recipient && !has_role) {
      rest = last.text;
    }
  } else {
    HarmonyHeaderText earlier = *this;
    earlier.sections_.pop_back();
    header = earlier.parse();
    const ChannelName channel = read_channel_name(last.text);
    rest = channel.rest;
    // "final answer" names a channel, "finalize it" does not.
    const bool sticks = !rest.empty() && rest[0] >= 'a' && rest[0] <= 'z';
    if (channel.name.empty() || (sticks && !rest.starts_with(kRecipientMark))) {
      rest = last.text;
    } else {
      header.channel = channel.name;
      if (auto recipient = take_recipient(rest)) {
        header.recipient = std::move(recipient);
      }
    }
  }
  if (!is_blank(rest)) {
    message.body = rest;
  }
  if (last.constrained) {
    std::string_view text = trim_left(*last.constrained);
    const std::size_t type_size =
        std::min({text.size(), text.find_first_of(kBlanks), text.find_first_of(kBodyOnly)});
    if (type_size > 0) {
      header.content_type =
          std::string(kHarmonyConstrainText) + std::string(text.substr(0, type_size));
      text.remove_prefix(type_size);
    }
    message.body += is_blank(text) ? "" : text;
  }
  return message;
}

}  // namespace rapt
