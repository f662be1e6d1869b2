#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace rapt {

// What a Harmony prompt may declare beside plain text: the fields of the system message and of a
// developer message, and the tools in either. Plain values; the functions below write them as the
// text that the model was trained on. An absent field leaves its line or section out.

struct HarmonyFunction {
  std::string name;
  std::string description;                // "" when there is none
  std::optional<json::value> parameters;  // a JSON schema; absent: the function takes nothing
};

// A group of functions under one name ("functions", "browser"). One without functions is a tool
// that takes plain text ("python").
struct HarmonyNamespace {
  std::string name;
  std::optional<std::string> description;
  std::vector<HarmonyFunction> functions;
};

// By key, which is also the order in the prompt. The key is nearly always the namespace's name.
using HarmonyTools = std::map<std::string, HarmonyNamespace, std::less<>>;

// Where a client's own functions go.
inline constexpr std::string_view kHarmonyFunctions = "functions";

// OpenAI's built-in tools.
HarmonyNamespace harmony_browser_tool();
HarmonyNamespace harmony_python_tool();

enum class HarmonyEffort { kLow, kMedium, kHigh };

// "low", "medium", "high".
std::string_view harmony_effort_name(HarmonyEffort effort);
std::optional<HarmonyEffort> harmony_effort_called(std::string_view name);

struct HarmonySystemContent {
  std::optional<std::string> model_identity;
  std::optional<std::string> knowledge_cutoff;
  std::optional<std::string> conversation_date;
  std::optional<HarmonyEffort> effort;
  HarmonyTools tools;                       // built-in tools
  std::vector<std::string> valid_channels;  // empty: no line about channels
  bool channel_required = false;

  // OpenAI's identity, cutoff and channels, effort medium, no date, no tools.
  static HarmonySystemContent standard();
};

// The body of the system message. `has_functions`: some developer message of the conversation
// declares functions in the namespace "functions", so that the line about their channel is due.
std::string harmony_system_text(const HarmonySystemContent& content, bool has_functions);

struct HarmonyDeveloperContent {
  std::optional<std::string> instructions;
  HarmonyTools tools;

  bool declares_functions() const;
};

// The body of a developer message; "" when there is nothing to say.
std::string harmony_developer_text(const HarmonyDeveloperContent& content);

}  // namespace rapt
