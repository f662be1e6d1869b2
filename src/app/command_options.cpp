#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/flag_sources_internal.h"
#include "app/token_ids.h"

namespace rapt {

namespace {

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

// Values from `words`, each once, in their order; `find` knows the words, `known` lists them.
template <typename Value, typename Find>
Result<std::vector<Value>> find_values(
    const std::vector<std::string>& words, std::string_view flag, std::string_view known, Find find
) {
  std::vector<Value> values;
  for (const std::string& word : words) {
    const std::optional<Value> value = find(word);
    if (!value.has_value()) {
      return invalid_argument(
          "--" + std::string(flag) + ": \"" + word + "\" is none of " + std::string(known)
      );
    }
    if (std::find(values.begin(), values.end(), *value) == values.end()) {
      values.push_back(*value);
    }
  }
  return values;
}

std::optional<DType> find_kv_cache_dtype(std::string_view name) {
  if (name == "f32") {
    return DType::kF32;
  }
  if (name == "bf16") {
    return DType::kBF16;
  }
  return name == "fp8" ? std::optional(DType::kF8E4M3) : std::nullopt;
}

Result<CommandOptions> eval_quality_options(FlagTargets& targets) {
  EvalQualityOptions& eval = targets.eval;
  ASSIGN_OR_RETURN(eval.token_ids, given_token_ids(targets));
  if (eval.token_ids.has_value() != eval.text_file.empty()) {
    return invalid_argument("rapt eval-quality needs a text: --text FILE or --token-ids-file FILE");
  }
  if (eval.stride > eval.context_length) {
    return invalid_argument(
        "--stride is " + std::to_string(eval.stride) + ": more than --context-length, " +
        std::to_string(eval.context_length) + ", would leave tokens out"
    );
  }
  ASSIGN_OR_RETURN(
      eval.linear_modes,
      find_values<LinearMode>(
          targets.eval_linear_modes, "linear-mode", "i16, i8 and f32", find_linear_mode
      )
  );
  ASSIGN_OR_RETURN(
      eval.kv_cache_dtypes,
      find_values<DType>(
          targets.eval_kv_types, "kv-cache-dtype", "f32, bf16 and fp8", find_kv_cache_dtype
      )
  );
  eval.load = std::move(targets.load);
  eval.json = targets.json;
  return CommandOptions(std::move(eval));
}

SelftestOptions selftest_options(const FlagTargets& targets) {
  return SelftestOptions{
      .num_threads = targets.load.engine.num_threads,
      .full = targets.full,
      .json = targets.json,
  };
}

Result<CommandOptions> attention_options(FlagTargets& targets) {
  using Action = AttentionOptions::Action;
  constexpr auto kActions = std::to_array<std::pair<std::string_view, Action>>({
      {"list", Action::kList},
      {"explain", Action::kExplain},
      {"selftest", Action::kSelftest},
      {"bench", Action::kBench},
      {"docs", Action::kDocs},
  });
  AttentionOptions& attention = targets.attention;
  if (targets.attention_action.empty()) {
    return invalid_argument(
        "rapt attention needs to be told what to do: list, explain NAME, selftest, bench or docs"
    );
  }
  for (const auto& [name, action] : kActions) {
    if (targets.attention_action == name) {
      attention.action = action;
    }
  }
  const bool is_explain = attention.action == Action::kExplain;
  if (is_explain && attention.name.empty()) {
    return invalid_argument(
        "rapt attention explain needs a NAME to explain, such as FLASHINFER, or the word unset for "
        "what happens without a name; rapt attention list shows what is chosen here"
    );
  }
  if (!is_explain && (!attention.name.empty() || !attention.release.empty())) {
    return invalid_argument("a NAME and --for go with rapt attention explain only");
  }
  attention.model = std::move(targets.load.model);
  attention.engine = targets.load.engine;
  attention.settings = std::move(targets.load.attention);
  attention.json = targets.json;
  attention.selftest = selftest_options(targets);
  return CommandOptions(std::move(attention));
}

}  // namespace

Result<CommandOptions> options_of(const CommandSpec& command, FlagTargets targets) {
  if (targets.load.model.empty() && (command.bit & kWithoutModel) == 0) {
    return invalid_argument(
        "rapt " + std::string(command.name) +
        " needs a MODEL: a checkpoint directory, a .gguf file, or a name such as "
        "openai/gpt-oss-20b"
    );
  }
  switch (command.bit) {
    case kServeCommand:
      targets.load.engine.writes_prepared = true;
      targets.serve.load = std::move(targets.load);
      targets.serve.sampling = targets.sampling;
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
    case kEvalQualityCommand:
      return eval_quality_options(targets);
    case kAttentionCommand:
      return attention_options(targets);
    case kSelftestCommand:
      return CommandOptions(selftest_options(targets));
  }
  return internal_error("a command without options");
}

}  // namespace rapt
