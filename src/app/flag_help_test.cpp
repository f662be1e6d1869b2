#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/flag_sources_internal.h"
#include "app/flags.h"

namespace rapt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string printed(std::vector<std::string> args) {
  const Result<Invocation> invocation = parse_command_line(args, {});
  EXPECT_TRUE(invocation.has_value());
  return invocation ? std::get<PrintText>(invocation->options).text : "";
}

// Some names have a row for one command and another row for others.
bool has_flag(const CommandSpec& command, std::string_view name) {
  for (const FlagSpec& flag : flag_table()) {
    if (flag.name == name && (flag.commands & command.bit) != 0) {
      return true;
    }
  }
  return false;
}

TEST(FlagHelp, EveryCommandListsAllItsFlagsAndNoOthers) {
  for (const CommandSpec& command : command_table()) {
    const std::string text = printed({std::string(command.name), "--help"});
    for (const FlagSpec& flag : flag_table()) {
      if (flag.is_positional || flag.is_hidden) {
        continue;
      }
      const bool stands_alone = flag.metavar.empty() || !flag.spellings.empty();
      const std::string line = "\n  --" + std::string(flag.name) + (stands_alone ? "" : " ");
      if ((flag.commands & command.bit) != 0) {
        EXPECT_THAT(text, HasSubstr(line));
      } else if (!has_flag(command, flag.name)) {
        EXPECT_THAT(text, Not(HasSubstr(line)));
      }
    }
    EXPECT_EQ(text, printed({"help", std::string(command.name)}));
    EXPECT_EQ(text, printed({std::string(command.name), "m", "-h", "--unknown"}));
  }
}

TEST(FlagHelp, GivesRangesChoicesAndDefaults) {
  // Lines may break anywhere.
  std::istringstream words(printed({"serve", "--help"}));
  std::string text;
  for (std::string word; words >> word;) {
    text += word + " ";
  }
  EXPECT_THAT(text, HasSubstr("from 0 to 65535; default 8000"));
  EXPECT_THAT(text, HasSubstr("one of auto, bf16, f32, fp8; default auto"));
  EXPECT_THAT(text, HasSubstr("RAPT_MAX_MODEL_LEN"));
}

TEST(FlagHelp, LinesFitATerminal) {
  for (const CommandSpec& command : command_table()) {
    std::istringstream lines(printed({std::string(command.name), "--help"}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

TEST(FlagHelp, GeneralHelpListsTheCommands) {
  const std::string text = printed({"--help"});
  for (const CommandSpec& command : command_table()) {
    EXPECT_THAT(text, HasSubstr("\n  " + std::string(command.name) + " "));
  }
  EXPECT_EQ(text, printed({"help"}));
}

TEST(FlagHelp, PrintsTheVersion) {
  EXPECT_THAT(printed({"--version"}), ::testing::MatchesRegex("rapt [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(printed({"--version"}), printed({"serve", "--version"}));
}

TEST(FlagTable, RowsAreComplete) {
  std::set<std::pair<std::string_view, unsigned>> seen;
  for (const FlagSpec& flag : flag_table()) {
    EXPECT_NE(flag.assign, nullptr) << flag.name;
    EXPECT_FALSE(flag.help.empty()) << flag.name;
    EXPECT_EQ(flag.metavar.empty(), flag.kind == FlagKind::kSwitch) << flag.name;
    EXPECT_NE(flag.name, kConfigFlag);
    for (const CommandSpec& command : command_table()) {
      if ((flag.commands & command.bit) != 0) {
        EXPECT_TRUE(seen.emplace(flag.name, command.bit).second) << flag.name << " stands twice";
      }
    }
  }
}

TEST(FlagTable, NamesBecomeVariables) {
  EXPECT_EQ(environment_name("max-model-len"), "RAPT_MAX_MODEL_LEN");
}

}  // namespace
}  // namespace rapt
