#include <algorithm>
#include <span>
#include <utility>

#include "app/flag_help_internal.h"
#include "app/flag_sources_internal.h"
#include "app/flag_values_internal.h"
#include "app/flags.h"
#include "base/nearest_name.h"

namespace rapt {

namespace {

// A flag's texts and where they came from; the sources in falling rank.
struct Sources {
  RawValues command_line;
  RawValues config_file;
  RawValues environment;
};

struct Resolved {
  RawValue raw;
  FlagSource source = FlagSource::kDefault;
};

// All places that say something about the flag, the one that wins last.
std::vector<Resolved> resolve_all(const FlagSpec& flag, const Sources& sources) {
  const std::pair<const RawValues*, FlagSource> ranked[] = {
      {&sources.environment, FlagSource::kEnvironment},
      {&sources.config_file, FlagSource::kConfigFile},
      {&sources.command_line, FlagSource::kCommandLine},
  };
  std::vector<Resolved> all;
  for (const auto& [values, source] : ranked) {
    if (const auto found = values->find(flag.name); found != values->end()) {
      all.push_back(Resolved{found->second, source});
    }
  }
  if (all.empty() && !flag.default_text.empty()) {
    all.push_back(Resolved{
        {{std::string(flag.default_text)}, "the default of --" + std::string(flag.name)},
        FlagSource::kDefault,
    });
  }
  return all;
}

std::string shown_text(const FlagSpec& flag, const std::vector<std::string>& texts) {
  if (flag.is_secret) {
    return "***";
  }
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : ",") + text;
  }
  return joined;
}

// An argument without a flag's name may stand in the wrong place: shows all of them.
Error explain_place(const CommandSpec& command, const FlagSpec& flag, Error error) {
  if (flag.is_positional) {
    error.message += ": rapt " + std::string(command.name) + " " + std::string(command.usage);
  }
  return error;
}

Result<FlagTargets> fill_targets(const CommandSpec& command, const Sources& sources) {
  FlagTargets targets;
  for (const FlagSpec* flag : flags_of(command.bit)) {
    const std::vector<Resolved> all = resolve_all(*flag, sources);
    const std::size_t num_used =
        flag->every_source ? all.size() : std::min<std::size_t>(1, all.size());
    for (const Resolved& resolved : std::span(all).last(num_used)) {
      const RawValue& raw = resolved.raw;
      Result<FlagValue> converted = convert_flag(*flag, raw.texts, raw.where);
      if (!converted) {
        return explain_place(command, *flag, std::move(converted).error());
      }
      FlagValue value = *std::move(converted);
      value.name = flag->name;
      value.source = resolved.source;
      flag->assign(targets, value);
    }
    if (!all.empty()) {
      targets.load.settings.push_back(
          {std::string(flag->name), shown_text(*flag, all.back().raw.texts), all.back().source}
      );
    }
  }
  EngineConfig& engine = targets.load.engine;
  engine.linear_mode = find_linear_mode(targets.linear_mode)
                           .value_or(engine.reference ? LinearMode::kF32 : LinearMode::kI16);
  const bool is_f32 = targets.kv_cache_dtype == "f32" ||
                      (targets.kv_cache_dtype == "auto" && engine.linear_mode == LinearMode::kF32);
  engine.kv_cache_dtype = is_f32                            ? DType::kF32
                          : targets.kv_cache_dtype == "fp8" ? DType::kF8E4M3
                                                            : DType::kBF16;
  return targets;
}

// Adds what other engines' variables say about attention. Those that are empty count as not set.
void add_foreign_variables(
    const Environment& environment, std::vector<AttentionSetting>& settings
) {
  for (const AttentionOption& option : attention_options()) {
    if (option.name.starts_with('-') || option.name.starts_with("RAPT_")) {
      continue;
    }
    const bool is_prefix = option.name.ends_with('*');
    const std::string_view stem = option.name.substr(0, option.name.size() - (is_prefix ? 1 : 0));
    for (const auto& [name, text] : environment) {
      if (!text.empty() && (is_prefix ? name.starts_with(stem) : name == stem)) {
        settings.push_back({SettingOrigin::kVllmEnvironment, name, text});
      }
    }
  }
}

const CommandSpec* find_command(std::string_view name) {
  for (const CommandSpec& command : command_table()) {
    if (command.name == name) {
      return &command;
    }
  }
  return nullptr;
}

Error unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CommandSpec& command : command_table()) {
    names.push_back(command.name);
  }
  return invalid_argument(
      "unknown command '" + std::string(name) + "'" + did_you_mean(name, names) +
      " (rapt --help lists the commands)"
  );
}

Result<Invocation> parse_help(std::span<const std::string> args) {
  if (args.empty()) {
    return Invocation{PrintText{general_help()}, {}};
  }
  const CommandSpec* command = find_command(args.front());
  if (command == nullptr) {
    return unknown_command(args.front());
  }
  return Invocation{PrintText{command_help(*command)}, {}};
}

Result<Invocation> parse_command(
    const CommandSpec& command, std::span<const std::string> args, const Environment& environment
) {
  ASSIGN_OR_RETURN(Arguments arguments, read_arguments(command, args));
  if (arguments.wants_help) {
    return Invocation{PrintText{command_help(command)}, {}};
  }
  if (arguments.wants_version) {
    return Invocation{PrintText{version_text() + "\n"}, {}};
  }
  Invocation invocation;
  Sources sources;
  sources.command_line = std::move(arguments.values);
  sources.environment = read_environment(command, environment, invocation.warnings);
  std::string config_path = arguments.config_path;
  if (config_path.empty()) {
    const auto found = environment.find(environment_name(kConfigFlag));
    config_path = found == environment.end() ? "" : found->second;
  }
  if (!config_path.empty()) {
    ASSIGN_OR_RETURN(sources.config_file, read_config_file(command, config_path));
  }
  ASSIGN_OR_RETURN(FlagTargets targets, fill_targets(command, sources));
  add_foreign_variables(environment, targets.load.attention);
  ASSIGN_OR_RETURN(invocation.options, options_of(command, std::move(targets)));
  return invocation;
}

}  // namespace

std::string_view name_of(FlagSource source) {
  switch (source) {
    case FlagSource::kDefault:
      return "default";
    case FlagSource::kEnvironment:
      return "environment";
    case FlagSource::kConfigFile:
      return "config file";
    case FlagSource::kCommandLine:
      return "command line";
  }
  return "";
}

Result<Invocation> parse_command_line(
    std::span<const std::string> args, const Environment& environment
) {
  if (args.empty()) {
    return invalid_argument("no command was given; rapt --help lists the commands");
  }
  const std::string& first = args.front();
  if (first == "--version" || first == "version") {
    return Invocation{PrintText{version_text() + "\n"}, {}};
  }
  if (first == "--help" || first == "-h" || first == "help") {
    return parse_help(args.subspan(1));
  }
  const CommandSpec* command = find_command(first);
  if (command == nullptr) {
    return unknown_command(first);
  }
  return parse_command(*command, args.subspan(1), environment);
}

}  // namespace rapt
