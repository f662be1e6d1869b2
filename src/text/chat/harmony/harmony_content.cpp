#include <array>
#include <utility>

#include "text/chat/harmony/harmony_content_internal.h"
#include "text/chat/harmony/harmony_schema_internal.h"

namespace rapt {

namespace {

constexpr std::array<std::pair<HarmonyEffort, std::string_view>, 3> kEfforts = {{
    {HarmonyEffort::kLow, "low"},
    {HarmonyEffort::kMedium, "medium"},
    {HarmonyEffort::kHigh, "high"},
}};

std::string join(const std::vector<std::string>& texts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out += i == 0 ? "" : separator;
    out += texts[i];
  }
  return out;
}

// The lines of `text`, each behind `prefix` and with a line feed. A line ends at "\n" or "\r\n";
// the end of the last one is no begin of another.
void append_lines(std::string& out, std::string_view prefix, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos) {
      text = {};
    } else {
      line = line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
      text.remove_prefix(end + 1);
    }
    out += prefix;
    out += line;
    out += '\n';
  }
}

void append_function(std::string& out, const HarmonyFunction& function) {
  append_lines(out, "// ", function.description);
  out += "type " + function.name + " = (";
  if (function.parameters) {
    out += "_: ";
    append_harmony_type(out, *function.parameters);
  }
  out += ") => any;\n\n";
}

// Ends without a line feed.
void append_namespace(std::string& out, const HarmonyNamespace& tool) {
  out += "## " + tool.name + "\n\n";
  append_lines(out, tool.functions.empty() ? "" : "// ", tool.description.value_or(""));
  if (tool.functions.empty()) {
    out.pop_back();
    return;
  }
  out += "namespace " + tool.name + " {\n\n";
  for (const HarmonyFunction& function : tool.functions) {
    append_function(out, function);
  }
  out += "} // namespace " + tool.name;
}

std::string tools_section(const HarmonyTools& tools) {
  std::string text = "# Tools";
  for (const auto& [key, tool] : tools) {
    text += "\n\n";
    append_namespace(text, tool);
  }
  return text;
}

std::string channels_section(const HarmonySystemContent& content, bool has_functions) {
  std::string text = "# Valid channels: " + join(content.valid_channels, ", ") + ".";
  if (content.channel_required) {
    text += " Channel must be included for every message.";
  }
  if (has_functions) {
    text += "\nCalls to these tools must go to the commentary channel: 'functions'.";
  }
  return text;
}

}  // namespace

std::string_view harmony_effort_name(HarmonyEffort effort) {
  for (const auto& [known, name] : kEfforts) {
    if (known == effort) {
      return name;
    }
  }
  return "";
}

std::optional<HarmonyEffort> harmony_effort_called(std::string_view name) {
  for (const auto& [effort, known] : kEfforts) {
    if (known == name) {
      return effort;
    }
  }
  return std::nullopt;
}

HarmonySystemContent HarmonySystemContent::standard() {
  HarmonySystemContent content;
  content.model_identity = "You are ChatGPT, a large language model trained by OpenAI.";
  content.knowledge_cutoff = "2024-06";
  content.effort = HarmonyEffort::kMedium;
  content.valid_channels = {"analysis", "commentary", "final"};
  content.channel_required = true;
  return content;
}

std::string harmony_system_text(const HarmonySystemContent& content, bool has_functions) {
  std::vector<std::string> sections;
  std::vector<std::string> top;
  if (content.model_identity) {
    top.push_back(*content.model_identity);
  }
  if (content.knowledge_cutoff) {
    top.push_back("Knowledge cutoff: " + *content.knowledge_cutoff);
  }
  if (content.conversation_date) {
    top.push_back("Current date: " + *content.conversation_date);
  }
  if (!top.empty()) {
    sections.push_back(join(top, "\n"));
  }
  if (content.effort) {
    sections.push_back("Reasoning: " + std::string(harmony_effort_name(*content.effort)));
  }
  if (!content.tools.empty()) {
    sections.push_back(tools_section(content.tools));
  }
  if (!content.valid_channels.empty()) {
    sections.push_back(channels_section(content, has_functions));
  }
  return join(sections, "\n\n");
}

bool HarmonyDeveloperContent::declares_functions() const {
  const auto found = tools.find(kHarmonyFunctions);
  return found != tools.end() && !found->second.functions.empty();
}

std::string harmony_developer_text(const HarmonyDeveloperContent& content) {
  std::string text;
  if (content.instructions) {
    text = "# Instructions\n\n" + *content.instructions;
  }
  if (!content.tools.empty()) {
    text += (text.empty() ? "" : "\n\n") + tools_section(content.tools);
  }
  return text;
}

}  // namespace rapt
