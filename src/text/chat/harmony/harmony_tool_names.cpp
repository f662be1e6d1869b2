#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "text/chat/harmony/harmony_tool_names_internal.h"
#include "text/utf8_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kNamespace = "functions.";
constexpr std::string_view kAliasPrefix = "use_";
constexpr std::size_t kMaxNameBytes = 64;
// What gpt-oss takes a name for that begins with one of these words: OpenAI's built-in tools,
// roles, channels, and the namespace itself.
constexpr std::array<std::string_view, 15> kReserved = {
    "python",
    "browser",
    "container",
    "repo_browser",
    "functions",
    "assistant",
    "user",
    "system",
    "developer",
    "tool",
    "all",
    "analysis",
    "commentary",
    "final",
    "to",
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool needs_alias(std::string_view name) {
  std::string word(name.substr(0, name.find('.')));
  std::transform(word.begin(), word.end(), word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return word.empty() || std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

std::string field_of_tool(std::size_t tool_idx, std::string_view field) {
  return "tools[" + std::to_string(tool_idx) + "].function." + std::string(field);
}

Result<void> check_name(std::string_view name, const std::string& field) {
  if (name.empty() || name.size() > kMaxNameBytes ||
      !std::all_of(name.begin(), name.end(), is_name_char)) {
    return invalid_argument(
        field + " is '" + to_valid_utf8(name.substr(0, kMaxNameBytes)) +
            "'; a tool's name has 1 to 64 letters, digits, '_', '-' and '.'",
        field
    );
  }
  return {};
}

Result<void> check_choice(const ChatOptions& options) {
  const ToolChoice& choice = options.tool_choice;
  if (choice.kind == ToolChoice::Kind::kRequired && options.tools.empty()) {
    return invalid_argument(
        "tool_choice is 'required', but there are no tools; declare one in 'tools'", "tool_choice"
    );
  }
  const auto is_chosen = [&choice](const ToolDeclaration& tool) {
    return tool.name == choice.name;
  };
  if (choice.kind == ToolChoice::Kind::kNamed &&
      std::none_of(options.tools.begin(), options.tools.end(), is_chosen)) {
    return invalid_argument(
        "tool_choice names the function '" + choice.name + "', which 'tools' does not declare",
        "tool_choice"
    );
  }
  return {};
}

// The name without what stands around it: "functions.", and characters that no name has.
std::string_view bare_name(std::string_view recipient) {
  while (!recipient.empty() && !is_name_char(recipient.back())) {
    recipient.remove_suffix(1);
  }
  while (!recipient.empty() && !is_name_char(recipient.front())) {
    recipient.remove_prefix(1);
  }
  while (recipient.starts_with(kNamespace)) {
    recipient.remove_prefix(kNamespace.size());
  }
  return recipient;
}

}  // namespace

Result<void> check_harmony_tools(const ChatOptions& options) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < options.tools.size(); ++i) {
    const ToolDeclaration& tool = options.tools[i];
    RETURN_IF_ERROR(check_name(tool.name, field_of_tool(i, "name")));
    const auto [earlier, is_new] = seen.emplace(tool.name, i);
    if (!is_new) {
      return invalid_argument(
          "tools[" + std::to_string(earlier->second) + "] and tools[" + std::to_string(i) +
              "] are both called '" + tool.name + "'; give each tool a name of its own",
          field_of_tool(i, "name")
      );
    }
    if (tool.parameters && !tool.parameters->is_object() && !tool.parameters->is_null()) {
      return invalid_argument(
          field_of_tool(i, "parameters") + " is " + std::string(json_kind_name(*tool.parameters)) +
              "; it must be a JSON schema, an object",
          field_of_tool(i, "parameters")
      );
    }
  }
  return check_choice(options);
}

HarmonyToolNames::HarmonyToolNames(const ChatOptions& options) {
  if (options.tool_choice.kind == ToolChoice::Kind::kNone) {
    return;
  }
  // Tools that keep their names first, so that no alias takes one.
  for (const ToolDeclaration& tool : options.tools) {
    if (!needs_alias(tool.name)) {
      client_[tool.name] = tool.name;
    }
  }
  for (const ToolDeclaration& tool : options.tools) {
    if (needs_alias(tool.name)) {
      client_[free_alias(tool.name)] = tool.name;
    }
  }
  for (const auto& [in_prompt, client] : client_) {
    in_prompt_[client] = in_prompt;
  }
}

std::string HarmonyToolNames::in_prompt(std::string_view name) const {
  if (const auto declared = in_prompt_.find(name); declared != in_prompt_.end()) {
    return declared->second;
  }
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return !is_name_char(c); }, '_'
  );
  return needs_alias(plain) || client_.contains(plain) ? free_alias(plain) : plain;
}

std::optional<HarmonyToolNames::Match> HarmonyToolNames::find(std::string_view recipient) const {
  const std::string_view name = bare_name(recipient);
  const bool has_namespace = recipient.find(kNamespace) != std::string_view::npos;
  if (const auto tool = client_.find(name); tool != client_.end()) {
    return Match{
        tool->second, has_namespace && recipient.size() == kNamespace.size() + name.size()};
  }
  // The client's own name for a tool that has an alias. Without "functions." it is what the alias
  // is there to prevent: a call of the built-in tool.
  if (has_namespace && in_prompt_.contains(name)) {
    return Match{std::string(name), false};
  }
  return std::nullopt;
}

std::string HarmonyToolNames::free_alias(std::string_view name) const {
  std::string alias = std::string(kAliasPrefix) + std::string(name);
  while (client_.contains(alias)) {
    alias += '_';
  }
  return alias;
}

}  // namespace rapt
