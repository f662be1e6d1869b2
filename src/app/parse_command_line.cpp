#include <algorithm>
#include <utility>

#include "app/flag_help_internal.h"
#include "app/flag_sources_internal.h"
#include "app/flag_values_internal.h"
#include "app/flags.h"
#include "app/token_ids.h"
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

std::optional<Resolved> resolve(const FlagSpec& flag, const Sources& sources) {
  const std::pair<const RawValues*, FlagSource> ranked[] = {
      {&sources.command_line, FlagSource::kCommandLine},
      {&sources.config_file, FlagSource::kConfigFile},
      {&sources.environment, FlagSource::kEnvironment},
  };
  for (const auto& [values, source] : ranked) {
    if (const auto found = values->find(flag.name); found != values->end()) {
      return Resolved{found->second, source};
    }
  }
  if (flag.default_text.empty()) {
    return std::nullopt;
  }
  return Resolved{
      {{std::string(flag.default_text)}, "the default of --" + std::string(flag.name)},
      FlagSource::kDefault,
  };
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

Result<FlagTargets> fill_targets(const CommandSpec& command, const Sources& sources) {
  FlagTargets targets;
  for (const FlagSpec* flag : flags_of(command.bit)) {
    const std::optional<Resolved> resolved = resolve(*flag, sources);
    if (!resolved.has_value()) {
      continue;
    }
    const RawValue& raw = resolved->raw;
    ASSIGN_OR_RETURN(const FlagValue value, convert_flag(*flag, raw.texts, raw.where));
    flag->assign(targets, value);
    targets.load.settings.push_back(
        {std::string(flag->name), shown_text(*flag, raw.texts), resolved->source}
    );
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

// The ids of --token-ids or --token-ids-file, or nothing.
Result<std::optional<std::vector<TokenId>>> given_token_ids(const FlagTargets& targets) {
  std::optional<std::vector<TokenId>> ids;
  if (!targets.token_ids.empty() && !targets.token_ids_file.empty()) {
    return invalid_argument("give --token-ids or --token-ids-file, not both");
  }
  if (!targets.token_ids.empty()) {
    ids = targets.token_ids;
  } else if (!targets.token_ids_file.empty()) {
    ASSIGN_OR_RETURN(ids, read_token_ids_file(targets.token_ids_file));
  }
  return ids;
}

Result<CommandOptions> run_options(FlagTargets& targets) {
  RunOptions& run = targets.run;
  ASSIGN_OR_RETURN(run.token_ids, given_token_ids(targets));
  if (run.token_ids.has_value() && !run.prompt.empty()) {
    return invalid_argument("rapt run takes a PROMPT or token ids, not both");
  }
  if (!run.token_ids.has_value() && run.prompt.empty()) {
    return invalid_argument(
        "rapt run needs a PROMPT after the model, such as: rapt run MODEL \"Why is the sky blue?\""
    );
  }
  run.load = std::move(targets.load);
  run.sampling = targets.sampling;
  run.prompt_options = std::move(targets.prompt_options);
  return CommandOptions(std::move(run));
}

Result<CommandOptions> logits_options(FlagTargets& targets) {
  ASSIGN_OR_RETURN(std::optional<std::vector<TokenId>> ids, given_token_ids(targets));
  if (!ids.has_value()) {
    return invalid_argument(
        "rapt logits needs token ids: --token-ids 1,2,3 or --token-ids-file FILE"
    );
  }
  targets.logits.token_ids = *std::move(ids);
  targets.logits.load = std::move(targets.load);
  return CommandOptions(std::move(targets.logits));
}

Result<CommandOptions> tokenize_options(FlagTargets& targets) {
  if (targets.stdin_jsonl && targets.tokenize.text.has_value()) {
    return invalid_argument("rapt tokenize takes a TEXT or --stdin-jsonl, not both");
  }
  targets.tokenize.model = std::move(targets.load.model);
  return CommandOptions(std::move(targets.tokenize));
}

Result<CommandOptions> detokenize_options(FlagTargets& targets) {
  if (targets.stdin_jsonl && !targets.token_ids.empty()) {
    return invalid_argument("rapt detokenize takes IDS or --stdin-jsonl, not both");
  }
  DetokenizeOptions detokenize{.model = std::move(targets.load.model), .token_ids = {}};
  if (!targets.token_ids.empty()) {
    detokenize.token_ids = std::move(targets.token_ids);
  }
  return CommandOptions(std::move(detokenize));
}

Result<CommandOptions> harmony_options(FlagTargets& targets) {
  HarmonyOptions& harmony = targets.harmony;
  if (targets.harmony_action.empty()) {
    return invalid_argument("rapt harmony needs to be told what to do: render or parse");
  }
  const bool is_parse = targets.harmony_action == "parse";
  if (harmony.strict && !is_parse) {
    return invalid_argument("--strict goes with rapt harmony parse only");
  }
  harmony.action = is_parse ? HarmonyOptions::Action::kParse : HarmonyOptions::Action::kRender;
  return CommandOptions(std::move(harmony));
}

Result<CommandOptions> bench_options(FlagTargets& targets) {
  BenchOptions& bench = targets.bench;
  for (const auto* numbers : {&bench.prompt_tokens, &bench.depths, &bench.sequences}) {
    if (std::any_of(numbers->begin(), numbers->end(), [](int number) { return number < 0; })) {
      return invalid_argument("rapt bench takes whole numbers from 0 on");
    }
  }
  if (std::count(bench.sequences.begin(), bench.sequences.end(), 0) > 0) {
    return invalid_argument("--sequences takes whole numbers from 1 on");
  }
  if (bench.sequences.empty()) {
    const bool is_kernels = bench.action == BenchOptions::Action::kKernels;
    bench.sequences = is_kernels ? std::vector<int>{1, 8, 32, 512} : std::vector<int>{1};
  }
  bench.json = targets.json;
  return CommandOptions(std::move(bench));
}

Result<CommandOptions> options_of(const CommandSpec& command, FlagTargets targets) {
  if (targets.load.model.empty() && command.bit != kHarmonyCommand) {
    return invalid_argument(
        "rapt " + std::string(command.name) +
        " needs a MODEL: a checkpoint directory, or a name such as openai/gpt-oss-20b"
    );
  }
  switch (command.bit) {
    case kServeCommand:
      targets.load.engine.writes_prepared = true;
      targets.serve.load = std::move(targets.load);
      targets.serve.conversation_date = targets.prompt_options.conversation_date;
      return CommandOptions(std::move(targets.serve));
    case kRunCommand:
      return run_options(targets);
    case kChatCommand:
      targets.chat.load = std::move(targets.load);
      targets.chat.sampling = targets.sampling;
      targets.chat.prompt_options = std::move(targets.prompt_options);
      return CommandOptions(std::move(targets.chat));
    case kLogitsCommand:
      return logits_options(targets);
    case kInspectCommand:
      targets.inspect.load = std::move(targets.load);
      targets.inspect.json = targets.json;
      return CommandOptions(std::move(targets.inspect));
    case kTokenizeCommand:
      return tokenize_options(targets);
    case kDetokenizeCommand:
      return detokenize_options(targets);
    case kHarmonyCommand:
      return harmony_options(targets);
    case kBenchCommand:
      targets.load.engine.writes_prepared = true;
      targets.bench.load = std::move(targets.load);
      return bench_options(targets);
  }
  return internal_error("a command without options");
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
