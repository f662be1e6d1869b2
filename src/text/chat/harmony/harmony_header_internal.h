#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/chat_repairs.h"

namespace rapt {

// What a message's header says. All of it is what the model wrote, so none of it can be trusted.
struct HarmonyHeader {
  std::string role = "assistant";           // or a tool's name
  std::string channel;                      // analysis, commentary, final, or "" when none is known
  std::optional<std::string> recipient;     // "functions.get_weather"
  std::optional<std::string> content_type;  // "json", "<|constrain|>json"
  std::vector<std::string> words = {};      // all that are no recipient; the type is the last one
  std::vector<RepairKind> repairs = {};     // what had to be overlooked
};

// The tokens between START and MESSAGE, as far as they have come. The model leaves out and repeats
// every part of a header, so nothing about it is certain before MESSAGE stands there.
class HarmonyHeaderText {
 public:
  // `has_start`: a START token stood before it, so that the first word is a role.
  explicit HarmonyHeaderText(bool has_start) : has_start_(has_start) {}

  void add_text(std::string_view bytes);
  void add_channel();
  void add_constrain();

  // Whether this may still become a header when more tokens follow. If not, the message has no
  // MESSAGE token and its body has begun.
  bool may_be_header() const;

  // Whether nothing but blanks has come yet.
  bool empty() const;

  // The header, when MESSAGE has come: what is recognised counts, the rest is dropped.
  HarmonyHeader parse() const;

  // The header and the body, when MESSAGE did not come. Nothing but header words is dropped from
  // the body; a body of nothing but blanks is "". `is_cut`: the stream ends here, so the last word
  // may be the begin of one.
  struct Headless {
    HarmonyHeader header;
    std::string body;
  };

  Headless parse_without_message(bool is_cut = false) const;

 private:
  // The text up to the first CHANNEL, between two of them, or behind the last.
  struct Section {
    std::string text;
    std::optional<std::string> constrained;  // what stands behind a CONSTRAIN token
  };

  // What stands where the role should, and the text behind it.
  struct Role {
    std::string name = "assistant";
    int num_said = 0;
    std::string_view rest;
  };

  Role read_role() const;
  bool may_be_role_section(const Section& section) const;
  static void read_words(
      std::string_view text, std::string_view type_prefix, HarmonyHeader& header
  );
  static void read_section(
      std::string_view plain, const std::optional<std::string>& constrained, HarmonyHeader& header
  );
  std::string_view read_headless_role(HarmonyHeader& header) const;
  std::string_view read_headless_channel(HarmonyHeader& header, bool is_cut) const;

  bool has_start_;
  std::vector<Section> sections_{1};
};

}  // namespace rapt
