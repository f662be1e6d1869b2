#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attention/select/settings.h"
#include "base/log.h"
#include "base/result.h"
#include "engine/engine.h"
#include "request/request.h"

// What a command was told: typed options, filled from one flag table (flags.cpp). For each flag the
// command line wins over the YAML file (--config), that over the environment (RAPT_<NAME>), and
// that over the default. Plain values, made once by main() before any thread starts.

namespace rapt {

// Environment variables by name.
using Environment = std::map<std::string, std::string>;

enum class FlagSource { kDefault, kEnvironment, kConfigFile, kCommandLine };

std::string_view name_of(FlagSource source);

// One flag as it was resolved, for the start-up report. Secrets are masked.
struct FlagSetting {
  std::string name;
  std::string text;
  FlagSource source = FlagSource::kDefault;
};

// Shared by every command that loads a model.
struct LoadOptions {
  std::string model;  // a directory, a file, or a name such as openai/gpt-oss-20b
  EngineConfig engine;
  std::string chat_template;  // a file with one, instead of what the model brings; "" for none
  LogLevel log_level = LogLevel::kInfo;
  // Everything that was said about attention: flags, file, environment, other engines' variables.
  std::vector<AttentionSetting> attention;
  std::vector<FlagSetting> settings;  // every flag of the command, in table order
};

struct SamplingOptions {
  int max_tokens = 0;  // 0: as many as the context leaves
  // Absent: what the model's files say, else the value of SamplingParams.
  std::optional<float> temperature;
  std::optional<float> top_p;
  std::optional<int> top_k;
  std::optional<float> min_p;
  std::optional<std::uint64_t> seed;  // absent: a random one
};

// How a conversation is written out as a prompt.
struct PromptOptions {
  std::optional<std::string> reasoning_effort;  // low, medium, high; absent: the chat format's own
  std::string conversation_date = "today";      // today or YYYY-MM-DD
};

struct ServeOptions {
  LoadOptions load;
  SamplingOptions sampling;                     // for requests that say nothing else
  std::string host = "localhost";               // 127.0.0.1 and ::1
  int port = 8000;                              // 0: any free port
  std::vector<std::string> served_model_names;  // empty: `load.model` as it was given
  std::vector<std::string> api_keys;            // empty: no key is asked for
  double shutdown_timeout_seconds = 30.0;       // how long running requests may still take
  std::string conversation_date = "today";      // as in PromptOptions
};

struct RunOptions {
  LoadOptions load;
  SamplingOptions sampling;
  PromptOptions prompt_options;
  std::string prompt;                             // "" when token ids were given
  std::optional<std::vector<TokenId>> token_ids;  // from --token-ids or --token-ids-file
  bool raw = false;                               // the prompt as it is, without a chat format
  bool ignore_eos = false;
  bool print_token_ids = false;  // ids instead of text
};

// Named so because ChatOptions is what a conversation needs (text/chat/chat_message.h).
struct ChatCommandOptions {
  LoadOptions load;
  SamplingOptions sampling;
  PromptOptions prompt_options;
  std::string system;  // instructions; "" for none
};

enum class LogitsFormat { kJson, kNpy };

struct LogitsOptions {
  LoadOptions load;
  std::vector<TokenId> token_ids;
  int position_offset = 0;  // the absolute position of the first token
  bool only_last = false;   // the last position's logits only
  LogitsFormat format = LogitsFormat::kJson;
};

struct InspectOptions {
  LoadOptions load;
  bool json = false;
};

struct TokenizeOptions {
  std::string model;
  std::optional<std::string> text;  // absent: one JSON string a line of stdin
  bool allow_special = false;       // a special token's name in the text becomes the token
};

struct DetokenizeOptions {
  std::string model;
  std::optional<std::vector<TokenId>> token_ids;  // absent: one JSON list a line of stdin
};

// `rapt harmony`: one JSON value a line of stdin, one answer a line of stdout.
struct HarmonyOptions {
  enum class Action { kRender, kParse };

  Action action = Action::kRender;
  std::string tokenizer = "o200k_harmony";  // as load_named_tokenizer() takes it
  bool strict = false;                      // kParse: as OpenAI's library, errors included
};

// `rapt bench`: how fast a model runs here.
struct BenchOptions {
  enum class Action { kLatency, kKernels };

  LoadOptions load;
  Action action = Action::kLatency;
  std::vector<int> prompt_tokens;  // kLatency: lengths of prompts to time
  int decode_tokens = 32;          // kLatency: steps to time
  std::vector<int> depths;         // kLatency: tokens before those steps
  std::vector<int> sequences;      // kLatency: at once in a step; kKernels: rows of the input
  int repeat = 3;
  bool json = false;
};

// `rapt eval-quality`: how good a model's answers are in each mode, on a text.
struct EvalQualityOptions {
  LoadOptions load;
  std::string text_file;                          // "" when token ids were given
  std::optional<std::vector<TokenId>> token_ids;  // from --token-ids-file
  int context_length = 512;
  int stride = 0;      // 0: context_length
  int max_tokens = 0;  // 0: the whole text
  std::vector<LinearMode> linear_modes;
  std::vector<DType> kv_cache_dtypes;
  bool plain_reference = false;  // measure against the plain reference kernels
  bool json = false;
};

// `rapt selftest`: every kernel's own check on this machine.
struct SelftestOptions {
  int num_threads = 0;  // 0: the cores this process may use
  bool full = false;    // every case, else the ones of a start
  bool json = false;
};

// `rapt attention`: what could run attention, why, and what a name means.
struct AttentionOptions {
  enum class Action { kList, kExplain, kSelftest, kBench, kDocs };

  Action action = Action::kList;
  std::string model;             // as LoadOptions has it, or a preset's name
  std::string device;            // "cpu", "sm89", ...; "": this machine's CPU (kExplain: all)
  std::string name;              // kExplain: the name to explain; "" for none
  std::string release;           // kExplain: "vllm@0.11.0"; "" for none
  std::string calibration_file;  // kBench: what to write; "": the file in the user's cache folder
  bool json = false;
  SelftestOptions selftest;  // kSelftest
  EngineConfig engine;
  std::vector<AttentionSetting> settings;
};

// Text to print and a reason to stop: --help and --version.
struct PrintText {
  std::string text;
};

using CommandOptions = std::variant<
    PrintText,
    ServeOptions,
    RunOptions,
    ChatCommandOptions,
    LogitsOptions,
    InspectOptions,
    TokenizeOptions,
    DetokenizeOptions,
    HarmonyOptions,
    BenchOptions,
    EvalQualityOptions,
    AttentionOptions,
    SelftestOptions>;

struct Invocation {
  CommandOptions options;
  std::vector<std::string> warnings;  // sentences for stderr, e.g. an unknown RAPT_ variable
};

// Reads a command line: `args` without the program's name. Every error is the user's and says what
// would work.
Result<Invocation> parse_command_line(
    std::span<const std::string> args, const Environment& environment
);

// "rapt 0.1.0": the version set in the top CMakeLists.txt.
std::string version_text();

}  // namespace rapt
