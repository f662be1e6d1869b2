#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "app/flag_sources_internal.h"
#include "base/nearest_name.h"

namespace rapt {

namespace {

std::string see_help(const CommandSpec& command) {
  return " (rapt " + std::string(command.name) + " --help lists the flags)";
}

std::string commands_that_take(std::string_view flag_name) {
  std::string names;
  for (const CommandSpec& command : command_table()) {
    for (const FlagSpec* flag : flags_of(command.bit)) {
      if (flag->name == flag_name) {
        names += (names.empty() ? "rapt " : ", rapt ") + std::string(command.name);
      }
    }
  }
  return names;
}

// An error for a name that is no flag of `command`. `shown` is the name as it was written.
Error unknown_flag(
    const CommandSpec& command,
    std::string_view shown,
    std::string_view flag_name,
    std::string_view where,
    std::string_view prefix
) {
  std::string message = std::string(where) + "unknown flag " + std::string(shown);
  const std::string others = commands_that_take(flag_name);
  if (!others.empty()) {
    message += ": it belongs to " + others + ", not to rapt " + std::string(command.name);
    return invalid_argument(message + see_help(command));
  }
  std::vector<std::string_view> names = flag_names_of(command.bit);
  names.push_back(kConfigFlag);
  return invalid_argument(message + did_you_mean(flag_name, names, prefix) + see_help(command));
}

bool looks_like_flag(std::string_view word) {
  return word.starts_with('-') && word.size() > 1;
}

// The texts that a command takes by position: "PROMPT", "TEXT"; "" for none.
std::string_view free_text_of(const CommandSpec& command) {
  for (const FlagSpec* flag : flags_of(command.bit)) {
    if (flag->is_positional && (flag->name == "prompt" || flag->name == "text")) {
      return flag->metavar;
    }
  }
  return "";
}

// How to give a text that was taken for a flag; "" where `word` can hardly have been meant as one.
std::string hint_at_dashes(const CommandSpec& command, std::string_view word) {
  const std::string text(free_text_of(command));
  const bool may_be_text = !word.starts_with("--") || word.find(' ') != std::string_view::npos;
  if (text.empty() || !may_be_text) {
    return "";
  }
  return "; flags come first and then -- before a " + text + " that begins with a dash: rapt " +
         std::string(command.name) + " MODEL [flags] -- " + text;
}

// What CLI11 could not place: unknown flags first, they explain the rest. `words` is all there was.
Error explain_extras(
    const CommandSpec& command,
    const std::vector<std::string>& extras,
    std::span<const std::string> words
) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  for (const std::string& extra : extras) {
    if (!looks_like_flag(extra)) {
      continue;
    }
    const std::string shown = extra.substr(0, extra.find('='));
    if (std::find(words.begin(), dashes, extra) == dashes) {
      return invalid_argument(
          "unexpected argument '" + shown +
          "' after --: what follows -- is text, and flags come before it: rapt " +
          std::string(command.name) + " MODEL [flags] -- " +
          std::string(free_text_of(command).empty() ? "..." : free_text_of(command))
      );
    }
    const std::string name = shown.substr(std::min(shown.find_first_not_of('-'), shown.size()));
    Error error = unknown_flag(command, shown, name, "", "--");
    error.message += hint_at_dashes(command, extra);
    return error;
  }
  return invalid_argument(
      "unexpected argument '" + extras.front() + "': rapt " + std::string(command.name) +
      " takes " + std::string(command.usage) + "; put a text with blanks in quotes"
  );
}

CLI::Option* add_flag(CLI::App& parser, const FlagSpec& flag) {
  const std::string name(flag.name);
  if (flag.kind == FlagKind::kSwitch) {
    return parser.add_flag("--" + name + ",!--no-" + name)->take_all();
  }
  const std::string names = flag.is_positional ? name + ",--" + name : "--" + name;
  return parser.add_option(names)->take_all();
}

}  // namespace

std::vector<const FlagSpec*> flags_of(CommandBit command) {
  std::vector<const FlagSpec*> flags;
  for (const FlagSpec& flag : flag_table()) {
    if ((flag.commands & command) != 0) {
      flags.push_back(&flag);
    }
  }
  return flags;
}

std::vector<std::string_view> flag_names_of(CommandBit command) {
  std::vector<std::string_view> names;
  for (const FlagSpec* flag : flags_of(command)) {
    names.push_back(flag->name);
  }
  return names;
}

Result<Arguments> read_arguments(const CommandSpec& command, std::span<const std::string> args) {
  CLI::App parser;
  parser.set_help_flag();
  parser.allow_extras();
  const CLI::Option* help = parser.add_flag("--help");
  const CLI::Option* version = parser.add_flag("--version");
  const CLI::Option* config = parser.add_option("--config")->take_last();
  std::vector<std::pair<const FlagSpec*, const CLI::Option*>> options;
  for (const FlagSpec* flag : flags_of(command.bit)) {
    options.emplace_back(flag, add_flag(parser, *flag));
  }

  const std::vector<std::string> words = spelled_words(command, args);
  try {
    parser.parse(std::vector<std::string>(words.rbegin(), words.rend())
    );  // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    return invalid_argument(error.what() + see_help(command));
  }

  Arguments arguments;
  arguments.wants_help = help->count() > 0;
  arguments.wants_version = version->count() > 0;
  if (arguments.wants_help || arguments.wants_version) {
    return arguments;
  }
  std::vector<std::string> extras = parser.remaining();
  extras.erase(std::remove(extras.begin(), extras.end(), "--"), extras.end());
  if (!extras.empty()) {
    return explain_extras(command, extras, words);
  }
  if (config->count() > 0) {
    arguments.config_path = config->results().back();
  }
  for (const auto& [flag, option] : options) {
    if (option->count() > 0) {
      const std::string where =
          flag->is_positional ? std::string(flag->metavar) : "--" + std::string(flag->name);
      arguments.values[std::string(flag->name)] = {option->results(), where};
    }
  }
  return arguments;
}

Error unknown_config_key(const CommandSpec& command, std::string_view key, std::string_view path) {
  std::string name(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return unknown_flag(command, key, name, std::string(path) + ": ", "");
}

std::string environment_name(std::string_view flag_name) {
  std::string name = "RAPT_";
  for (const char c : flag_name) {
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

RawValues read_environment(
    const CommandSpec& command, const Environment& environment, std::vector<std::string>& warnings
) {
  std::vector<std::string> known;  // of every command: a variable may be meant for another one
  for (const FlagSpec& flag : flag_table()) {
    known.push_back(environment_name(flag.name));
  }
  known.push_back(environment_name(kConfigFlag));
  known.emplace_back("RAPT_BINARY");  // tells the tests of this repository which binary to drive
  const std::vector<std::string_view> known_views(known.begin(), known.end());

  RawValues values;
  for (const auto& [name, text] : environment) {
    if (name.starts_with("RAPT_") && std::find(known.begin(), known.end(), name) == known.end()) {
      warnings.push_back(
          "the environment variable " + name + " belongs to no flag and is ignored" +
          did_you_mean(name, known_views)
      );
    }
  }
  for (const FlagSpec* flag : flags_of(command.bit)) {
    const std::string name = environment_name(flag->name);
    const auto found = environment.find(name);
    if (found != environment.end() && !found->second.empty()) {
      values[std::string(flag->name)] = {{found->second}, "environment variable " + name};
    }
  }
  return values;
}

}  // namespace rapt
