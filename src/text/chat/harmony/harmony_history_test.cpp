#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/chat/harmony/harmony_prompt_internal.h"

namespace rapt {
namespace {

ChatMessage user(std::string text) {
  return {ChatRole::kUser, std::move(text)};
}

ChatMessage answer(std::string content, std::optional<std::string> reasoning = {}) {
  return {ChatRole::kAssistant, std::move(content), "", std::move(reasoning)};
}

ChatMessage calls(std::vector<ToolCall> tool_calls, std::optional<std::string> reasoning = {}) {
  ChatMessage message = answer("", std::move(reasoning));
  message.tool_calls = std::move(tool_calls);
  return message;
}

ChatMessage result(std::string id, std::string text, std::string name = "") {
  ChatMessage message{ChatRole::kTool, std::move(text), std::move(name)};
  message.tool_call_id = std::move(id);
  return message;
}

ChatOptions two_tools() {
  ChatOptions options;
  options.tools = {{"get_weather", "Weather."}, {"python"}};
  return options;
}

// "who>recipient@channel type:body" of every message behind the system message.
std::vector<std::string> written(
    const std::vector<ChatMessage>& messages, const ChatOptions& options = {}
) {
  const auto conversation = to_harmony_conversation(messages, options);
  if (!conversation) {
    return {conversation.error().param};
  }
  std::vector<std::string> lines;
  for (const HarmonyMessage& message : *conversation) {
    std::string line = message.role == HarmonyRole::kTool
                           ? message.name
                           : std::string(harmony_role_name(message.role));
    line += message.recipient ? ">" + *message.recipient : "";
    line += message.channel ? "@" + *message.channel : "";
    line += message.content_type ? " " + *message.content_type : "";
    lines.push_back(line + ":" + message.parts.at(0));
  }
  lines.erase(lines.begin());
  return lines;
}

using Lines = std::vector<std::string>;

TEST(HarmonyHistory, WritesCallsAndResults) {
  ChatMessage message =
      calls({{"c1", "get_weather", R"({"city": "Oslo"})"}, {"c2", "python", "print(1)"}}, "think");
  message.content = "Let me look.";
  EXPECT_EQ(
      written({user("q"), message, result("c2", "1"), result("c1", "rain")}),
      (Lines{
          "user:q",
          "assistant@commentary:Let me look.",
          "assistant@analysis:think",
          "assistant>functions.get_weather@commentary json:{\"city\": \"Oslo\"}",
          "assistant>functions.use_python@commentary json:print(1)",
          "functions.use_python>assistant@commentary:1",
          "functions.get_weather>assistant@commentary:rain"})
  );
}

TEST(HarmonyHistory, KeepsReasoningOfAnOpenTurnOnly) {
  EXPECT_EQ(
      written(
          {user("a"),
           calls({{"c1", "f", "{}"}}, "one"),
           result("c1", "r1"),
           answer("done", "two"),
           user("b"),
           calls({{"c2", "f", "{}"}}, "three"),
           result("c2", "r2"),
           calls({{"c3", "f", "{}"}}, "four"),
           result("c3", "r3")}
      ),
      (Lines{
          "user:a",
          "assistant>functions.f@commentary json:{}",
          "functions.f>assistant@commentary:r1",
          "assistant@final:done",
          "user:b",
          "assistant@analysis:three",
          "assistant>functions.f@commentary json:{}",
          "functions.f>assistant@commentary:r2",
          "assistant@analysis:four",
          "assistant>functions.f@commentary json:{}",
          "functions.f>assistant@commentary:r3"})
  );
}

TEST(HarmonyHistory, FindsTheCallOfAResult) {
  const auto names_of_results = [](const std::vector<ChatMessage>& messages) {
    std::string names;
    for (const std::string& line : written(messages)) {
      if (line.starts_with("functions.")) {
        names += line.substr(10, 1);
      }
    }
    return names;
  };
  const ChatMessage two = calls({{"1", "a", "{}"}, {"2", "b", "{}"}});
  EXPECT_EQ(names_of_results({two, result("2", ""), result("1", "")}), "ba");
  EXPECT_EQ(names_of_results({two, result("", ""), result("", "")}), "ab") << "in order";
  EXPECT_EQ(names_of_results({two, result("", "", "b"), result("", "")}), "ba") << "by name";
  EXPECT_EQ(names_of_results({two, result("1", ""), result("1", "")}), "aa") << "said twice";
  const ChatMessage nameless = calls({{"", "a", "{}"}, {"", "b", "{}"}});
  EXPECT_EQ(names_of_results({nameless, result("x", ""), result("y", "")}), "ab");
  const ChatMessage same_id = calls({{"1", "c", "{}"}});
  EXPECT_EQ(names_of_results({two, result("1", ""), same_id, result("1", "")}), "ac");
  EXPECT_EQ(names_of_results({two, user(""), same_id, result("", "")}), "c")
      << "a user's message closes a turn";
  EXPECT_EQ(names_of_results({two, user(""), result("2", "")}), "b") << "but ids are still known";
}

TEST(HarmonyHistory, NamesTheResultThatAnswersNothing) {
  EXPECT_EQ(written({user("q"), result("c9", "r")}), Lines{"messages[1].tool_call_id"});
  EXPECT_EQ(written({user("q"), result("", "r")}), Lines{"messages[1].tool_call_id"});
  const ChatMessage call = calls({{"c1", "f", "{}"}});
  EXPECT_EQ(written({user("q"), call, result("c2", "r")}), Lines{"messages[2].tool_call_id"});
  EXPECT_EQ(
      written({user("q"), call, result("", "r"), result("", "r")}),
      Lines{"messages[3].tool_call_id"}
  );
  EXPECT_EQ(
      written({calls({{"c1", "f", "{}"}, {"c2", "", "{}"}})}),
      Lines{"messages[0].tool_calls[1].function.name"}
  );
}

TEST(HarmonyHistory, GoesOnForManyTurns) {
  std::vector<ChatMessage> messages;
  for (int turn = 0; turn < 50; ++turn) {
    const std::string id = "c" + std::to_string(turn);
    messages.push_back(user("q"));
    messages.push_back(calls({{id, "f", "{}"}}, "think"));
    messages.push_back(result(id, "r"));
    messages.push_back(answer("a", "think"));
  }
  EXPECT_EQ(written(messages).size(), 200U) << "all but the used reasoning";
}

TEST(HarmonyPrompt, DeclaresToolsInTheDeveloperMessage) {
  const ChatMessage system{ChatRole::kSystem, "Be brief."};
  const std::string tools =
      "# Tools\n\n## functions\n\nnamespace functions {\n\n// Weather.\ntype get_weather = () => "
      "any;\n\ntype use_python = () => any;\n\n} // namespace functions";
  EXPECT_EQ(
      written({system, user("q")}, two_tools()),
      (Lines{"developer:# Instructions\n\nBe brief.\n\n" + tools, "user:q"})
  );
  EXPECT_EQ(written({user("q")}, two_tools()), (Lines{"developer:" + tools, "user:q"}));
  EXPECT_EQ(
      written({user("q"), system}, two_tools()),
      (Lines{"developer:" + tools, "user:q", "developer:# Instructions\n\nBe brief."})
  );
}

TEST(HarmonyPrompt, SaysWhereCallsGoOnlyIfThereAreTools) {
  const auto mentions_functions = [](const ChatOptions& options) {
    const auto conversation = *to_harmony_conversation(std::vector{user("q")}, options);
    return conversation[0].parts[0].ends_with("commentary channel: 'functions'.");
  };
  ChatOptions options = two_tools();
  EXPECT_TRUE(mentions_functions(options));
  options.tool_choice.kind = ToolChoice::Kind::kNone;
  EXPECT_FALSE(mentions_functions(options));
  EXPECT_FALSE(mentions_functions({}));
}

TEST(HarmonyPrompt, LeavesToolsOutUnderToolChoiceNone) {
  ChatOptions options = two_tools();
  options.tool_choice.kind = ToolChoice::Kind::kNone;
  EXPECT_EQ(written({user("q")}, options), (Lines{"user:q"}));
}

TEST(HarmonyPrompt, KnowsTheEffortsOfTheApis) {
  const auto effort = [](const char* name) -> std::string {
    ChatOptions options;
    options.reasoning_effort = name;
    const auto conversation = to_harmony_conversation(std::vector{user("q")}, options);
    if (!conversation) {
      return conversation.error().param;
    }
    const std::string& text = (*conversation)[0].parts[0];
    const std::size_t begin = text.find("Reasoning: ");
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(effort("none"), "Reasoning: low");
  EXPECT_EQ(effort("minimal"), "Reasoning: low");
  EXPECT_EQ(effort("low"), "Reasoning: low");
  EXPECT_EQ(effort("medium"), "Reasoning: medium");
  EXPECT_EQ(effort("high"), "Reasoning: high");
  EXPECT_EQ(effort("High"), "reasoning_effort");
}

}  // namespace
}  // namespace rapt
