#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/flag_table_internal.h"
#include "base/result.h"

// The three places that flags come from. Each gives the texts as they were written; converting and
// ranking them is parse_command_line()'s work.

namespace rapt {

struct RawValue {
  std::vector<std::string> texts;
  std::string where;  // how to call the place in an error: "--port", "rapt.yaml: port"
};

// By flag name.
using RawValues = std::map<std::string, RawValue, std::less<>>;

struct Arguments {
  RawValues values;
  bool wants_help = false;
  bool wants_version = false;
  std::string config_path;  // "" when --config was not given
};

// The flags of one command, in table order, and their names.
std::vector<const FlagSpec*> flags_of(CommandBit command);
std::vector<std::string_view> flag_names_of(CommandBit command);

// The words of a command line with every flag in its own spelling: --max_num_seqs becomes
// --max-num-seqs (only the name is changed, never the value), -fa becomes --flash-attn, and
// --attention-config.backend X becomes --attention-config=backend=X.
std::vector<std::string> spelled_words(
    const CommandSpec& command, std::span<const std::string> args
);
std::string with_dashes(const std::string& argument);

// The words after the command's name. Unknown flags and words too many are errors.
Result<Arguments> read_arguments(const CommandSpec& command, std::span<const std::string> args);

// A YAML mapping from flag names (with - or _) to values; lists where a flag repeats.
Result<RawValues> read_config_file(const CommandSpec& command, const std::string& path);

// The error for a key of a YAML file that is no flag of the command.
Error unknown_config_key(const CommandSpec& command, std::string_view key, std::string_view path);

// RAPT_<NAME> for each flag of the command. A sentence goes to `warnings` for each RAPT_ variable
// that belongs to no flag at all.
RawValues read_environment(
    const CommandSpec& command, const Environment& environment, std::vector<std::string>& warnings
);

// The options of a command, once all its flags have spoken; says what is missing or does not go
// together (command_options.cpp).
Result<CommandOptions> options_of(const CommandSpec& command, FlagTargets targets);

// "RAPT_MAX_MODEL_LEN" for "max-model-len".
std::string environment_name(std::string_view flag_name);

}  // namespace rapt
