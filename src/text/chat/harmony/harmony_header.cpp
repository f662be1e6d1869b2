#include <algorithm>
#include <utility>

#include "text/chat/harmony/harmony_header_internal.h"
#include "text/chat/harmony/harmony_message_internal.h"
#include "text/chat/harmony/harmony_words_internal.h"

namespace rapt {

namespace {

// More words than that (recipient, content type and two of noise) are no header but a sentence,
// and so is a longer text.
constexpr std::size_t kMaxWords = 4;
constexpr std::size_t kMaxHeaderBytes = 256;

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

bool HarmonyHeaderText::empty() const {
  return sections_.size() == 1 && is_blank(sections_[0].text) && !sections_[0].constrained;
}

HarmonyHeaderText::Role HarmonyHeaderText::read_role() const {
  Role role;
  role.rest = trim_left(sections_[0].text);
  std::string_view known = leading_role(role.rest);
  if (known.empty() && has_start_ && !role.rest.starts_with(kHarmonyRecipientMark)) {
    // A tool's name. (Or text where a role should be; then there will be no MESSAGE.)
    const std::size_t end = std::min(role.rest.find_first_of(kHarmonyBlanks), role.rest.size());
    if (end > 0) {
      role.name = role.rest.substr(0, end);
      role.rest.remove_prefix(end);
    }
    return role;
  }
  while (!known.empty()) {
    role.name = known;
    ++role.num_said;
    role.rest.remove_prefix(known.size());
    known = leading_role(role.rest);
  }
  return role;
}

// Before CHANNEL only words that belong into a header may stand, and one that is still growing
// must be the begin of such a word. A content type may follow a recipient or CONSTRAIN.
bool HarmonyHeaderText::may_be_role_section(const Section& section) const {
  const std::string_view rest = read_role().rest;
  const std::vector<std::string_view> words = split_words(rest);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_growing =
        i + 1 == words.size() && rest.ends_with(words[i]) && !section.constrained;
    if (!(is_growing ? may_become_header_word(words[i]) : is_header_word(words[i]))) {
      return false;
    }
    if (words[i].starts_with(kHarmonyRecipientMark)) {
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
    if (has_second_line || part.find_first_of(kHarmonyBodyOnly) != std::string_view::npos) {
      return false;
    }
  }
  return split_words(words).size() + split_words(constrained).size() <= kMaxWords;
}

// Recipients and the content type, wherever they stand.
void HarmonyHeaderText::read_words(
    std::string_view text, std::string_view type_prefix, HarmonyHeader& header
) {
  for (const std::string_view word : split_words(text)) {
    if (!word.starts_with(kHarmonyRecipientMark)) {
      header.words.emplace_back(word);
      header.content_type = std::string(type_prefix) + std::string(word);
      continue;
    }
    const std::string_view name = recipient_of(word);
    const bool is_whole =
        !name.empty() && name.size() + kHarmonyRecipientMark.size() == word.size();
    if (!is_whole || header.recipient) {
      header.repairs.push_back(RepairKind::kRecipient);
    }
    // The last one counts, but "assistant" and the like take no tool's place.
    if (!name.empty() && (!header.recipient || is_tool_recipient(name))) {
      header.recipient = std::string(name);
    }
  }
}

void HarmonyHeaderText::read_section(
    std::string_view plain, const std::optional<std::string>& constrained, HarmonyHeader& header
) {
  read_words(plain, "", header);
  if (constrained) {
    read_words(*constrained, kHarmonyConstrainText, header);
  }
}

HarmonyHeader HarmonyHeaderText::parse() const {
  HarmonyHeader header;
  const Role role = read_role();
  header.role = role.name;
  if (role.num_said > 1 || role.name != "assistant") {
    header.repairs.push_back(RepairKind::kRole);
  }
  std::string_view rest = role.rest;
  bool is_channel_clean = sections_.size() == 2;
  if (sections_.size() == 1) {
    // "assistantfinal", "assistant commentary to=...": the CHANNEL token is missing.
    if (const std::string_view name = leading_channel(trim_left(rest)); !name.empty()) {
      header.channel = name;
      rest = trim_left(rest).substr(name.size());
    }
  }
  read_section(rest, sections_[0].constrained, header);
  for (std::size_t i = 1; i < sections_.size(); ++i) {
    const HarmonyChannelName channel = read_channel_name(sections_[i].text);
    is_channel_clean = is_channel_clean && channel.is_clean;
    if (!channel.name.empty()) {
      header.channel = channel.name;
    }
    // What sticks to the name, or stands in its place, is no word of its own.
    std::string_view words = channel.name.empty() ? trim_left(channel.rest) : channel.rest;
    if (!words.starts_with(kHarmonyRecipientMark)) {
      words.remove_prefix(std::min(words.find_first_of(kHarmonyBlanks), words.size()));
    }
    read_section(words, sections_[i].constrained, header);
  }
  if (header.channel.empty() && sections_.size() > 1 && is_blank(sections_.back().text)) {
    header.channel = kHarmonyFinal;
  }
  if (!is_channel_clean) {
    header.repairs.push_back(RepairKind::kChannel);
  }
  if (header.words.size() > 1) {
    header.repairs.push_back(RepairKind::kHeaderWord);
  }
  return header;
}

// The only section: returns the body.
std::string_view HarmonyHeaderText::read_headless_role(HarmonyHeader& header) const {
  const std::string_view text = sections_[0].text;
  const Role role = read_role();
  std::string_view rest = role.rest;
  header.recipient = take_recipient(rest);
  // A leading "assistant" without START may be the first word of a sentence, and a word after
  // START that is no role is text.
  if (!header.recipient && !(has_start_ && role.num_said > 0)) {
    return text;
  }
  header.role = role.name;
  return rest;
}

// The last section, behind a CHANNEL: returns the body.
std::string_view HarmonyHeaderText::read_headless_channel(HarmonyHeader& header, bool is_cut)
    const {
  const std::string_view text = sections_.back().text;
  HarmonyHeaderText earlier = *this;
  earlier.sections_.pop_back();
  header = earlier.parse();
  header.repairs.clear();
  const HarmonyChannelName channel = read_channel_name(text);
  std::string_view rest = channel.rest;
  // "final answer" names a channel, "finalize it" does not.
  const bool sticks = !rest.empty() && rest[0] >= 'a' && rest[0] <= 'z';
  if (channel.name.empty() || (sticks && !rest.starts_with(kHarmonyRecipientMark))) {
    return is_cut && is_cut_channel(text) ? std::string_view() : text;
  }
  header.channel = channel.name;
  if (auto recipient = take_recipient(rest)) {
    header.recipient = std::move(recipient);
  }
  return rest;
}

HarmonyHeaderText::Headless HarmonyHeaderText::parse_without_message(bool is_cut) const {
  Headless message;
  HarmonyHeader& header = message.header;
  std::string_view rest =
      sections_.size() == 1 ? read_headless_role(header) : read_headless_channel(header, is_cut);
  const bool is_for_tool = header.recipient && is_tool_recipient(*header.recipient);
  if (!header.channel.empty() || is_for_tool) {
    if (auto type = take_content_type(rest, is_for_tool)) {
      header.content_type = std::move(type);
    }
  }
  if (!is_blank(rest) && !(is_cut && is_cut_recipient(rest))) {
    message.body = rest;
  }
  if (const std::optional<std::string>& constrained = sections_.back().constrained) {
    std::string_view text = trim_left(*constrained);
    const std::size_t type_size = std::min(
        {text.size(), text.find_first_of(kHarmonyBlanks), text.find_first_of(kHarmonyBodyOnly)}
    );
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
