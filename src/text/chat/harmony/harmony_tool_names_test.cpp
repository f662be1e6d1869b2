#include <gtest/gtest.h>

#include <set>
#include <string>

#include "text/chat/harmony/harmony_tool_names_internal.h"

namespace rapt {
namespace {

ChatOptions with_tools(std::initializer_list<const char*> names) {
  ChatOptions options;
  for (const char* name : names) {
    options.tools.push_back({name});
  }
  return options;
}

std::string found(const HarmonyToolNames& names, std::string_view recipient) {
  const auto match = names.find(recipient);
  return match ? (match->is_written_so ? "" : "~") + match->name : "-";
}

TEST(HarmonyToolNames, LeavesOrdinaryNamesAlone) {
  const HarmonyToolNames names(with_tools({"get_weather", "mcp__files__read", "a-b.c", "pythonic"})
  );
  for (const char* name : {"get_weather", "mcp__files__read", "a-b.c", "pythonic"}) {
    EXPECT_EQ(names.in_prompt(name), name);
    EXPECT_EQ(found(names, std::string("functions.") + name), name);
  }
}

TEST(HarmonyToolNames, GivesAliasesToNamesThatTheModelKnowsOtherwise) {
  const HarmonyToolNames names(with_tools(
      {"python", "browser", "browser.open", "Container", "final", "functions.x", "use_python"}
  ));
  EXPECT_EQ(names.in_prompt("use_python"), "use_python") << "its own name comes first";
  EXPECT_EQ(names.in_prompt("python"), "use_python_");
  EXPECT_EQ(names.in_prompt("browser"), "use_browser");
  EXPECT_EQ(names.in_prompt("browser.open"), "use_browser.open");
  EXPECT_EQ(names.in_prompt("Container"), "use_Container");
  EXPECT_EQ(names.in_prompt("final"), "use_final");
  EXPECT_EQ(names.in_prompt("functions.x"), "use_functions.x");
  EXPECT_EQ(found(names, "functions.use_python"), "use_python");
  EXPECT_EQ(found(names, "functions.use_python_"), "python");
  EXPECT_EQ(found(names, "functions.use_functions.x"), "functions.x");
}

TEST(HarmonyToolNames, NoTwoToolsShareAnAlias) {
  const auto options = with_tools(
      {"python",
       "use_python",
       "use_python_",
       "user",
       "use_user",
       "use_use_user",
       "tool",
       "use_tool"}
  );
  const HarmonyToolNames names(options);
  std::set<std::string> seen;
  for (const ToolDeclaration& tool : options.tools) {
    const std::string alias = names.in_prompt(tool.name);
    EXPECT_TRUE(seen.insert(alias).second) << alias;
    EXPECT_EQ(found(names, "functions." + alias), tool.name);
  }
}

TEST(HarmonyToolNames, UnderstandsRecipientsThatAreNotQuiteRight) {
  const HarmonyToolNames names(with_tools({"get_weather", "python"}));
  EXPECT_EQ(found(names, "get_weather"), "~get_weather");
  EXPECT_EQ(found(names, "functions.functions.get_weather"), "~get_weather");
  EXPECT_EQ(found(names, "functions.get_weather:"), "~get_weather");
  EXPECT_EQ(found(names, "functions.python"), "~python") << "the client's own name";
  EXPECT_EQ(found(names, "python"), "-") << "the built-in tool";
  EXPECT_EQ(found(names, "functions.get"), "-");
  EXPECT_EQ(found(names, "functions."), "-");
  EXPECT_EQ(found(names, ""), "-");
  EXPECT_EQ(found(HarmonyToolNames(), "functions.get_weather"), "-");
}

TEST(HarmonyToolNames, KnowsNoToolsUnderToolChoiceNone) {
  ChatOptions options = with_tools({"get_weather"});
  options.tool_choice.kind = ToolChoice::Kind::kNone;
  const HarmonyToolNames names(options);
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(found(names, "functions.get_weather"), "-");
}

TEST(HarmonyToolNames, WritesNamesOfHistoryThatNobodyDeclares) {
  const HarmonyToolNames names(with_tools({"python"}));
  EXPECT_EQ(names.in_prompt("old_tool"), "old_tool");
  EXPECT_EQ(names.in_prompt("browser"), "use_browser");
  EXPECT_EQ(names.in_prompt("use_python"), "use_use_python") << "use_python is python's alias";
  EXPECT_EQ(names.in_prompt("a b<|end|>\n"), "a_b__end___");
}

std::string refused_param(const ChatOptions& options) {
  const auto checked = check_harmony_tools(options);
  return checked ? "" : checked.error().param;
}

TEST(HarmonyTools, AreCheckedWithTheFieldAtFault) {
  EXPECT_EQ(refused_param(with_tools({"a", "B-2_c.d"})), "");
  EXPECT_EQ(refused_param(with_tools({"a", ""})), "tools[1].function.name");
  EXPECT_EQ(refused_param(with_tools({"get weather"})), "tools[0].function.name");
  EXPECT_EQ(refused_param(with_tools({"caf\xC3\xA9"})), "tools[0].function.name");
  EXPECT_EQ(refused_param(with_tools({std::string(64, 'x').c_str()})), "");
  EXPECT_EQ(refused_param(with_tools({std::string(65, 'x').c_str()})), "tools[0].function.name");
  EXPECT_EQ(refused_param(with_tools({"a", "b", "a"})), "tools[2].function.name");
  ChatOptions options = with_tools({"a"});
  options.tools[0].parameters = json::value("text");
  EXPECT_EQ(refused_param(options), "tools[0].function.parameters");
  options.tools[0].parameters = json::value(nullptr);
  EXPECT_EQ(refused_param(options), "");
}

TEST(HarmonyTools, AChoiceNeedsItsTool) {
  ChatOptions options;
  options.tool_choice.kind = ToolChoice::Kind::kRequired;
  EXPECT_EQ(refused_param(options), "tool_choice");
  options.tools.push_back({"a"});
  EXPECT_EQ(refused_param(options), "");
  options.tool_choice = {ToolChoice::Kind::kNamed, "b"};
  EXPECT_EQ(refused_param(options), "tool_choice");
  options.tool_choice.name = "a";
  EXPECT_EQ(refused_param(options), "");
}

}  // namespace
}  // namespace rapt
