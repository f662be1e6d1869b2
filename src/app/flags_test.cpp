#include "app/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/flag_table_internal.h"
#include "app/testing/flag_parsing_internal.h"

namespace rapt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Flags, DefaultsOfTheTableAreThoseOfTheStructs) {
  const ServeOptions parsed = parse_as<ServeOptions>({"serve", "m"});
  const ServeOptions plain;
  const EngineConfig engine;
  EXPECT_EQ(parsed.load.model, "m");
  EXPECT_EQ(parsed.load.log_level, plain.load.log_level);
  EXPECT_EQ(parsed.load.engine.max_model_len, engine.max_model_len);
  EXPECT_EQ(parsed.load.engine.max_num_seqs, engine.max_num_seqs);
  EXPECT_EQ(parsed.load.engine.max_num_batched_tokens, engine.max_num_batched_tokens);
  EXPECT_EQ(parsed.load.engine.kv_cache_bytes, engine.kv_cache_bytes);
  EXPECT_EQ(parsed.load.engine.kv_cache_dtype, engine.kv_cache_dtype);
  EXPECT_EQ(parsed.load.engine.num_threads, engine.num_threads);
  EXPECT_EQ(parsed.load.engine.max_queued_requests, engine.max_queued_requests);
  EXPECT_EQ(parsed.load.engine.reference, engine.reference);
  EXPECT_EQ(parsed.host, plain.host);
  EXPECT_EQ(parsed.port, plain.port);
  EXPECT_EQ(parsed.served_model_names, plain.served_model_names);
  EXPECT_EQ(parsed.api_keys, plain.api_keys);
  EXPECT_EQ(parsed.shutdown_timeout_seconds, plain.shutdown_timeout_seconds);
  EXPECT_EQ(parsed.conversation_date, plain.conversation_date);

  const RunOptions run = parse_as<RunOptions>({"run", "m", "hi"});
  const SamplingOptions sampling;
  EXPECT_EQ(run.load.log_level, LogLevel::kWarning);
  EXPECT_EQ(run.sampling.max_tokens, sampling.max_tokens);
  EXPECT_EQ(run.sampling.temperature, sampling.temperature);
  EXPECT_EQ(run.sampling.top_p, sampling.top_p);
  EXPECT_EQ(run.sampling.top_k, sampling.top_k);
  EXPECT_EQ(run.sampling.min_p, sampling.min_p);
  EXPECT_FALSE(run.sampling.seed.has_value());
  EXPECT_EQ(run.prompt_options.reasoning_effort, PromptOptions().reasoning_effort);
  EXPECT_FALSE(run.raw || run.ignore_eos || run.print_token_ids || run.token_ids.has_value());
}

TEST(Flags, ReadsEveryServeFlag) {
  const ServeOptions options = parse_as<ServeOptions>(
      {"serve",
       "dir",
       "--threads",
       "3",
       "--kv-cache-dtype=f32",
       "--kv-cache-memory-bytes",
       "2GiB",
       "--max-model-len",
       "32K",
       "--max-num-seqs",
       "8",
       "--max-num-batched-tokens",
       "1k",
       "--reference",
       "--host",
       "0.0.0.0",
       "--port",
       "0",
       "--served-model-name",
       "a,b",
       "--served-model-name",
       "c",
       "--api-key",
       "x,y",
       "--api-key",
       "z",
       "--max-queued-requests",
       "5",
       "--inter-token-target-ms",
       "250",
       "--shutdown-timeout",
       "1.5",
       "--conversation-date",
       "2025-08-05",
       "--temperature",
       "0.25",
       "--top-k",
       "20",
       "--log-level",
       "debug"}
  );
  EXPECT_EQ(options.load.model, "dir");
  EXPECT_EQ(options.load.engine.num_threads, 3);
  EXPECT_EQ(options.load.engine.kv_cache_dtype, DType::kF32);
  EXPECT_EQ(options.load.engine.kv_cache_bytes, 2ULL << 30);
  EXPECT_EQ(options.load.engine.max_model_len, 32768);
  EXPECT_EQ(options.load.engine.max_num_seqs, 8);
  EXPECT_EQ(options.load.engine.max_num_batched_tokens, 1000);
  EXPECT_TRUE(options.load.engine.reference);
  EXPECT_EQ(options.host, "0.0.0.0");
  EXPECT_EQ(options.port, 0);
  EXPECT_THAT(options.served_model_names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(options.api_keys, ElementsAre("x,y", "z"));
  EXPECT_EQ(options.load.engine.max_queued_requests, 5);
  EXPECT_EQ(options.load.engine.inter_token_target_ms, 250);
  EXPECT_EQ(options.shutdown_timeout_seconds, 1.5);
  EXPECT_EQ(options.conversation_date, "2025-08-05");
  EXPECT_EQ(options.sampling.temperature, 0.25F);
  EXPECT_EQ(options.sampling.top_k, 20);
  EXPECT_FALSE(options.sampling.top_p || options.sampling.min_p);
  EXPECT_EQ(options.load.log_level, LogLevel::kDebug);
}

TEST(Flags, ReadsRunFlags) {
  const RunOptions options = parse_as<RunOptions>(
      {"run",
       "m",
       "Why?",
       "--max-tokens",
       "9",
       "--temperature",
       "0.5",
       "--top-p",
       "0.9",
       "--top-k",
       "-1",
       "--min-p",
       "0.1",
       "--seed",
       "9007199254740993",
       "--reasoning-effort",
       "high",
       "--raw",
       "--ignore-eos",
       "--print-token-ids"}
  );
  EXPECT_EQ(options.prompt, "Why?");
  EXPECT_EQ(options.sampling.max_tokens, 9);
  EXPECT_EQ(options.sampling.temperature, 0.5F);
  EXPECT_EQ(options.sampling.top_p, 0.9F);
  EXPECT_EQ(options.sampling.top_k, 0);
  EXPECT_EQ(options.sampling.min_p, 0.1F);
  EXPECT_EQ(options.sampling.seed, 9007199254740993ULL);  // more than a double holds
  EXPECT_EQ(options.prompt_options.reasoning_effort, "high");
  EXPECT_TRUE(options.raw && options.ignore_eos && options.print_token_ids);
}

TEST(Flags, ReadsChatLogitsAndInspectFlags) {
  const auto chat = parse_as<ChatCommandOptions>(
      {"chat",
       "m",
       "--system",
       "Be brief.",
       "--temperature",
       "0",
       "--conversation-date",
       "2025-01-31"}
  );
  EXPECT_EQ(chat.system, "Be brief.");
  EXPECT_EQ(chat.sampling.temperature, 0.0F);
  EXPECT_EQ(chat.prompt_options.conversation_date, "2025-01-31");

  const auto logits = parse_as<LogitsOptions>(
      {"logits",
       "m",
       "--token-ids",
       "1,2",
       "--token-ids",
       "3",
       "--position-offset",
       "7",
       "--positions",
       "last",
       "--format",
       "npy"}
  );
  EXPECT_THAT(logits.token_ids, ElementsAre(1, 2, 3));
  EXPECT_EQ(logits.position_offset, 7);
  EXPECT_TRUE(logits.only_last);
  EXPECT_EQ(logits.format, LogitsFormat::kNpy);

  EXPECT_TRUE(parse_as<InspectOptions>({"inspect", "m", "--json"}).json);
}

TEST(Flags, GivesTextCommandsTheirArgumentOrTheLinesOfStdin) {
  const auto tokenize = parse_as<TokenizeOptions>({"tokenize", "m", "a b", "--allow-special"});
  EXPECT_EQ(tokenize.model, "m");
  EXPECT_EQ(tokenize.text, "a b");
  EXPECT_TRUE(tokenize.allow_special);
  EXPECT_EQ(parse_as<TokenizeOptions>({"tokenize", "m", ""}).text, "");
  EXPECT_EQ(parse_as<TokenizeOptions>({"tokenize", "m", "--", "-1"}).text, "-1");
  EXPECT_EQ(parse_as<TokenizeOptions>({"tokenize", "m"}).text, std::nullopt);
  EXPECT_EQ(parse_as<TokenizeOptions>({"tokenize", "m", "--stdin-jsonl"}).text, std::nullopt);
  EXPECT_THAT(error_of({"tokenize", "m", "a", "--stdin-jsonl"}), HasSubstr("not both"));
  EXPECT_THAT(error_of({"tokenize"}), HasSubstr("needs a MODEL"));

  const auto detokenize = parse_as<DetokenizeOptions>({"detokenize", "m", "1,2"});
  EXPECT_EQ(detokenize.model, "m");
  EXPECT_EQ(detokenize.token_ids, (std::vector<TokenId>{1, 2}));
  EXPECT_EQ(parse_as<DetokenizeOptions>({"detokenize", "m"}).token_ids, std::nullopt);
  EXPECT_THAT(error_of({"detokenize", "m", "1", "--stdin-jsonl"}), HasSubstr("not both"));
}

TEST(Flags, HarmonyRendersOrParses) {
  const auto render = parse_as<HarmonyOptions>({"harmony", "render", "--stdin-jsonl"});
  EXPECT_EQ(render.action, HarmonyOptions::Action::kRender);
  EXPECT_EQ(render.tokenizer, HarmonyOptions().tokenizer);
  const auto parsed =
      parse_as<HarmonyOptions>({"harmony", "parse", "--stdin-jsonl", "--tokenizer", "d", "--strict"}
      );
  EXPECT_EQ(parsed.action, HarmonyOptions::Action::kParse);
  EXPECT_EQ(parsed.tokenizer, "d");
  EXPECT_TRUE(parsed.strict);
  EXPECT_THAT(error_of({"harmony"}), HasSubstr("render or parse"));
  EXPECT_THAT(error_of({"harmony", "paint"}), HasSubstr("paint"));
  EXPECT_THAT(error_of({"harmony", "render", "--strict"}), HasSubstr("harmony parse only"));
}

TEST(Flags, ReadsTokenIdsFromAFile) {
  const ConfigFile ids("[1, 22,\n 333]\n");
  EXPECT_THAT(
      parse_as<LogitsOptions>({"logits", "m", "--token-ids-file", ids.path()}).token_ids,
      ElementsAre(1, 22, 333)
  );
  const RunOptions run = parse_as<RunOptions>({"run", "m", "--token-ids-file", ids.path()});
  ASSERT_TRUE(run.token_ids.has_value());
  EXPECT_THAT(*run.token_ids, ElementsAre(1, 22, 333));
  EXPECT_THAT(
      error_of({"logits", "m", "--token-ids", "1", "--token-ids-file", ids.path()}),
      HasSubstr("not both")
  );
}

TEST(Flags, KvCacheTypeFollowsReferenceUnlessGiven) {
  const auto type_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"serve", "m"};
    args.insert(args.end(), more.begin(), more.end());
    return parse_as<ServeOptions>(args).load.engine.kv_cache_dtype;
  };
  EXPECT_EQ(type_of({}), DType::kBF16);
  EXPECT_EQ(type_of({"--reference"}), DType::kF32);
  EXPECT_EQ(type_of({"--reference", "--kv-cache-dtype", "bf16"}), DType::kBF16);
  EXPECT_EQ(type_of({"--kv-cache-dtype", "f32"}), DType::kF32);
  EXPECT_EQ(type_of({"--kv-cache-dtype", "fp8"}), DType::kF8E4M3);
}

TEST(Flags, CommandLineWinsOverFileOverEnvironmentOverDefault) {
  const ConfigFile file("port: 2\nmax_num_seqs: 22\nserved-model-name: [a, b]\n");
  const Environment environment = {
      {"RAPT_PORT", "3"}, {"RAPT_MAX_NUM_SEQS", "33"}, {"RAPT_THREADS", "4"}};
  const auto options =
      parse_as<ServeOptions>({"serve", "m", "--config", file.path(), "--port", "1"}, environment);
  EXPECT_EQ(options.port, 1);
  EXPECT_EQ(options.load.engine.max_num_seqs, 22);
  EXPECT_EQ(options.load.engine.num_threads, 4);
  EXPECT_THAT(options.served_model_names, ElementsAre("a", "b"));
  EXPECT_EQ(options.load.engine.max_num_batched_tokens, 512);

  EXPECT_EQ(parse_as<ServeOptions>({"serve", "m"}, environment).port, 3);
}

TEST(Flags, SettingsTellWhereEachValueCameFrom) {
  const ConfigFile file("port: 2\n");
  const auto options = parse_as<ServeOptions>(
      {"serve", "m", "--config", file.path(), "--api-key", "secret"}, {{"RAPT_THREADS", "4"}}
  );
  const auto find = [&](std::string_view name) {
    for (const FlagSetting& setting : options.load.settings) {
      if (setting.name == name) {
        return setting.text + " " + std::string(name_of(setting.source));
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(find("model"), "m command line");
  EXPECT_EQ(find("port"), "2 config file");
  EXPECT_EQ(find("threads"), "4 environment");
  EXPECT_EQ(find("host"), "localhost default");
  EXPECT_EQ(find("api-key"), "*** command line");
  EXPECT_EQ(find("served-model-name"), "none");
}

TEST(Flags, ModelAndConfigMayComeFromTheEnvironment) {
  const ConfigFile file("port: 77\n");
  const auto options =
      parse_as<ServeOptions>({"serve"}, {{"RAPT_MODEL", "m"}, {"RAPT_CONFIG", file.path()}});
  EXPECT_EQ(options.load.model, "m");
  EXPECT_EQ(options.port, 77);
}

TEST(Flags, SwitchesCanBeTurnedOff) {
  const ConfigFile file("reference: true\n");
  const auto is_on = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"serve", "m", "--config", file.path()};
    args.insert(args.end(), more.begin(), more.end());
    return parse_as<ServeOptions>(args).load.engine.reference;
  };
  EXPECT_TRUE(is_on({}));
  EXPECT_FALSE(is_on({"--no-reference"}));
  EXPECT_FALSE(is_on({"--reference=false"}));
  EXPECT_TRUE(is_on({"--no-reference", "--reference"}));
  EXPECT_FALSE(
      parse_as<ServeOptions>({"serve", "m"}, {{"RAPT_REFERENCE", "0"}}).load.engine.reference
  );
}

TEST(Flags, OnlyAServerKeepsPace) {
  const auto target_of = [](const char* value) {
    return parse_as<ServeOptions>({"serve", "m", "--inter-token-target-ms", value})
        .load.engine.inter_token_target_ms;
  };
  EXPECT_EQ(target_of("0"), 0);
  EXPECT_EQ(target_of("60000"), 60000);
  EXPECT_GT(parse_as<ServeOptions>({"serve", "m"}).load.engine.inter_token_target_ms, 0);
  EXPECT_EQ(parse_as<RunOptions>({"run", "m", "hi"}).load.engine.inter_token_target_ms, 0);
  for (const char* value : {"-1", "60001", "0.4", "fast"}) {
    EXPECT_THAT(
        error_of({"serve", "m", "--inter-token-target-ms", value}),
        AllOf(HasSubstr("inter-token-target-ms"), HasSubstr(value))
    );
  }
  EXPECT_THAT(
      error_of({"run", "m", "hi", "--inter-token-target-ms", "1"}), HasSubstr("inter-token-target")
  );
}

TEST(Flags, LastOfARepeatedValueWins) {
  EXPECT_EQ(parse_as<ServeOptions>({"serve", "m", "--port", "1", "--port", "2"}).port, 2);
}

TEST(Flags, LinearModeAndItsConsequences) {
  const auto engine_of = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"serve", "m"});
    return parse_as<ServeOptions>(flags).load.engine;
  };
  EXPECT_EQ(engine_of({}).linear_mode, LinearMode::kI16);
  EXPECT_EQ(engine_of({}).kv_cache_dtype, DType::kBF16);
  EXPECT_EQ(engine_of({"--linear-mode", "i8"}).linear_mode, LinearMode::kI8);
  EXPECT_EQ(engine_of({"--reference"}).linear_mode, LinearMode::kF32);
  EXPECT_EQ(engine_of({"--reference"}).kv_cache_dtype, DType::kF32);
  EXPECT_EQ(engine_of({"--reference", "--linear-mode=i8"}).linear_mode, LinearMode::kI8);
  EXPECT_EQ(engine_of({"--reference", "--linear-mode=i8"}).kv_cache_dtype, DType::kBF16);
  EXPECT_EQ(engine_of({"--kv-cache-dtype", "fp8"}).kv_cache_dtype, DType::kF8E4M3);
  EXPECT_EQ(engine_of({"--linear-mode", "f32"}).kv_cache_dtype, DType::kF32);
  EXPECT_EQ(
      engine_of({"--linear-mode", "f32", "--kv-cache-dtype", "bf16"}).kv_cache_dtype, DType::kBF16
  );
  EXPECT_THAT(
      error_of({"serve", "m", "--linear-mode", "i4"}), HasSubstr("one of auto, i16, i8, f32")
  );
}

TEST(Flags, BenchTakesListsOfNumbers) {
  const auto latency = parse_as<BenchOptions>(
      {"bench", "latency", "m", "--prompt-tokens", "512,2048", "--depths=128,4096", "--json"}
  );
  EXPECT_EQ(latency.action, BenchOptions::Action::kLatency);
  EXPECT_EQ(latency.load.model, "m");
  EXPECT_THAT(latency.prompt_tokens, ElementsAre(512, 2048));
  EXPECT_THAT(latency.depths, ElementsAre(128, 4096));
  EXPECT_THAT(latency.sequences, ElementsAre(1));
  EXPECT_TRUE(latency.json);
  const auto kernels = parse_as<BenchOptions>({"bench", "kernels", "m"});
  EXPECT_EQ(kernels.action, BenchOptions::Action::kKernels);
  EXPECT_THAT(kernels.sequences, ElementsAre(1, 8, 32, 512));
  EXPECT_THAT(error_of({"bench", "speed", "m"}), HasSubstr("one of latency, kernels"));
  EXPECT_THAT(error_of({"bench", "latency", "m", "--sequences", "0"}), HasSubstr("from 1 on"));
  EXPECT_THAT(error_of({"bench", "latency"}), HasSubstr("needs a MODEL"));
}

TEST(Flags, CpuLevelIsTheMachinesUnlessNamed) {
  const auto level_of = [](const std::string& text) {
    return parse_as<ServeOptions>({"serve", "m", "--cpu-level", text}).load.engine.cpu_level;
  };
  EXPECT_EQ(level_of("auto"), std::nullopt);
  EXPECT_EQ(level_of("scalar"), CpuLevel::kScalar);
  EXPECT_EQ(level_of("avx2"), CpuLevel::kAvx2);
  EXPECT_EQ(level_of("avx512"), CpuLevel::kAvx512);
  EXPECT_EQ(level_of("avx512vnni"), CpuLevel::kAvx512Vnni);
  EXPECT_THAT(error_of({"serve", "m", "--cpu-level", "sse"}), HasSubstr("avx2"));
}

TEST(Flags, UnderscoresInFlagNamesAreFine) {
  EXPECT_EQ(parse_as<ServeOptions>({"serve", "m", "--max_num_seqs=7"}).load.engine.max_num_seqs, 7);
  EXPECT_THAT(
      parse_as<ServeOptions>({"serve", "m", "--served_model_name=a_b"}).served_model_names,
      ElementsAre("a_b")
  );
}

TEST(Flags, PromptsAreTakenAsTheyAre) {
  EXPECT_EQ(parse_as<RunOptions>({"run", "m", "[a,b]"}).prompt, "[a,b]");
  EXPECT_EQ(parse_as<RunOptions>({"run", "m", "a,b = c"}).prompt, "a,b = c");
  EXPECT_EQ(parse_as<RunOptions>({"run", "m", "--", "--port_x"}).prompt, "--port_x");
  EXPECT_EQ(parse_as<RunOptions>({"run", "--raw", "m", "-1"}).prompt, "-1");
}

TEST(Flags, RefusesValuesOutOfRange) {
  EXPECT_THAT(
      error_of({"serve", "m", "--port", "70000"}),
      AllOf(HasSubstr("--port"), HasSubstr("'70000'"), HasSubstr("from 0 to 65535"))
  );
  EXPECT_THAT(error_of({"serve", "m", "--port", "-1"}), HasSubstr("from 0 to 65535"));
  EXPECT_THAT(error_of({"serve", "m", "--port", "80x"}), HasSubstr("a whole number"));
  EXPECT_THAT(
      error_of({"serve", "m", "--kv-cache-dtype", "f16"}), HasSubstr("one of auto, bf16, f32, fp8")
  );
  EXPECT_THAT(error_of({"run", "m", "x", "--top-p", "0"}), HasSubstr("above 0 and up to 1"));
  EXPECT_THAT(error_of({"run", "m", "x", "--temperature", "nan"}), HasSubstr("a number"));
  EXPECT_THAT(error_of({"serve", "m", "--max-model-len", "0"}), HasSubstr("or auto"));
  EXPECT_THAT(error_of({"serve", "m"}, {{"RAPT_PORT", "x"}}), HasSubstr("variable RAPT_PORT"));
  EXPECT_THAT(error_of({"serve", "m", "--conversation-date", "5 August"}), HasSubstr("2025-08-05"));
}

TEST(Flags, FlagsAfterTheDashesAreToldApart) {
  EXPECT_THAT(
      error_of({"run", "m", "--", "-1 plus 2", "--max-tokens", "5"}),
      AllOf(HasSubstr("'--max-tokens' after --"), HasSubstr("[flags] -- PROMPT"))
  );
  EXPECT_THAT(
      error_of({"run", "m", "-hello"}),
      AllOf(HasSubstr("unknown flag -hello"), HasSubstr("[flags] -- PROMPT"))
  );
  EXPECT_THAT(error_of({"bench", "m"}), HasSubstr("rapt bench latency|kernels MODEL"));
}

TEST(Flags, UnknownFlagsNameTheNearest) {
  EXPECT_THAT(
      error_of({"serve", "m", "--max-seqs", "4"}), HasSubstr("did you mean --max-num-seqs?")
  );
  EXPECT_THAT(error_of({"serve", "m", "--prot=1"}), HasSubstr("did you mean --port?"));
  EXPECT_THAT(error_of({"serve", "m", "--confg", "x"}), HasSubstr("did you mean --config?"));
  EXPECT_THAT(error_of({"run", "m", "x", "--port", "1"}), HasSubstr("belongs to rapt serve"));
  EXPECT_THAT(
      error_of({"serve", "m", "--zzzzzzzz"}),
      AllOf(HasSubstr("unknown flag --zzzzzzzz"), ::testing::Not(HasSubstr("did you mean")))
  );
  EXPECT_THAT(error_of({"serve", "m", "extra"}), HasSubstr("unexpected argument 'extra'"));
  EXPECT_THAT(error_of({"serve", "m", "--port"}), HasSubstr("--port"));
}

TEST(Flags, UnknownCommandsNameTheNearest) {
  EXPECT_THAT(error_of({"sevre", "m"}), HasSubstr("did you mean serve?"));
  EXPECT_THAT(error_of({}), HasSubstr("rapt --help"));
  EXPECT_THAT(error_of({"help", "nothing"}), HasSubstr("unknown command 'nothing'"));
}

TEST(Flags, UnknownVariablesWarnOnce) {
  const Result<Invocation> invocation =
      parse({"serve", "m"}, {{"RAPT_PROT", "1"}, {"RAPT_TEMPERATURE", "1"}, {"HOME", "/"}});
  ASSERT_TRUE(invocation.has_value());
  EXPECT_THAT(
      invocation->warnings,
      ElementsAre(AllOf(HasSubstr("RAPT_PROT"), HasSubstr("did you mean RAPT_PORT?")))
  );
  EXPECT_THAT(
      parse({"serve", "m"}, {{"RAPT_PORT", ""}, {"RAPT_BINARY", "x"}})->warnings, IsEmpty()
  );
}

TEST(Flags, ConfigFileMistakesAreNamed) {
  const auto error_with = [](std::string_view yaml) {
    const ConfigFile file(yaml);
    return error_of({"serve", "m", "--config", file.path()});
  };
  EXPECT_THAT(
      error_with("prot: 1\n"), AllOf(HasSubstr("yaml: unknown flag prot"), HasSubstr("mean port?"))
  );
  EXPECT_THAT(error_with("max-tokens: 1\n"), HasSubstr("belongs to rapt run, rapt chat"));
  EXPECT_THAT(error_with("port: 99999\n"), HasSubstr("yaml: port: '99999'"));
  EXPECT_THAT(error_with("port: [1, 2]\n"), HasSubstr("one plain value"));
  EXPECT_THAT(error_with("port:\n"), HasSubstr("no value"));
  EXPECT_THAT(error_with("api-key: []\n"), HasSubstr("list is empty"));
  EXPECT_THAT(error_with("max-num-seqs: 1\nmax_num_seqs: 2\n"), HasSubstr("stands twice"));
  EXPECT_THAT(error_with("- port\n"), HasSubstr("mapping"));
  EXPECT_THAT(error_with("port: [\n"), HasSubstr("not YAML"));
  EXPECT_THAT(
      error_of({"serve", "m", "--config", "/nowhere/x.yaml"}),
      AllOf(HasSubstr("/nowhere/x.yaml"), HasSubstr("No such file"))
  );
  const ConfigFile empty("# nothing\n");
  EXPECT_EQ(parse_as<ServeOptions>({"serve", "m", "--config", empty.path()}).port, 8000);
}

TEST(Flags, SaysWhatIsMissing) {
  EXPECT_THAT(error_of({"serve"}), HasSubstr("needs a MODEL"));
  EXPECT_THAT(error_of({"run", "m"}), HasSubstr("needs a PROMPT"));
  EXPECT_THAT(error_of({"run", "m", "x", "--token-ids", "1"}), HasSubstr("not both"));
  EXPECT_THAT(error_of({"logits", "m"}), HasSubstr("needs token ids"));
  EXPECT_THAT(error_of({"logits", "m", "--token-ids-file", "/nowhere"}), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace rapt
