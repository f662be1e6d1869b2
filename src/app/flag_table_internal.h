#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/flags.h"

// The shape of the one flag table (flags.cpp and its parts flags_*.cpp). Everything about a flag
// follows from its row: how it is parsed, checked, shown by --help, spelled in a YAML file and in
// the environment.

namespace rapt {

enum class FlagKind {
  kSwitch,      // --x, --no-x, --x=false
  kInt,         // a whole number
  kCount,       // a whole number that may carry a suffix: 32k, 4K
  kBytes,       // a size: 512MiB, 8g
  kReal,        // a number
  kText,        // anything
  kChoice,      // one of `choices`
  kDate,        // YYYY-MM-DD, or one of `choices`
  kTexts,       // repeatable, and split at commas
  kWholeTexts,  // repeatable, never split
  kTokenIds,    // repeatable, split at commas: whole numbers
  kTriState,    // on, off or auto; no value means on
  kMapping,     // repeatable: a JSON object, or KEY=VALUE; --x.KEY VALUE; in YAML a mapping
};

// Keys and values of a mapping, in the order given.
using FlagPairs = std::vector<std::pair<std::string, std::string>>;

// A converted value; which field is filled follows from the kind.
struct FlagValue {
  bool on = false;                 // kSwitch
  std::int64_t whole = 0;          // kInt, kCount, kBytes; 0 for the word `auto_word`
  double real = 0.0;               // kReal
  std::string text;                // kText, kChoice, kDate, kTriState
  std::vector<std::string> texts;  // kTexts, kWholeTexts
  std::vector<TokenId> token_ids;  // kTokenIds
  FlagPairs pairs;                 // kMapping: keys joined by dots, and values
  std::string_view name;           // the flag's, from its row
  FlagSource source = FlagSource::kDefault;
};

struct FlagRange {
  double low = 0.0;
  double high = std::numeric_limits<std::int32_t>::max();
  bool low_excluded = false;
  std::int64_t multiple_of = 1;  // kInt only
};

// Where values go. The parts that several commands share are put into each command's options once
// all flags are in.
struct FlagTargets {
  LoadOptions load;
  SamplingOptions sampling;
  PromptOptions prompt_options;
  std::string kv_cache_dtype;
  std::string linear_mode;
  std::vector<TokenId> token_ids;
  std::string token_ids_file;
  ServeOptions serve;
  RunOptions run;
  ChatCommandOptions chat;
  LogitsOptions logits;
  InspectOptions inspect;
  TokenizeOptions tokenize;
  HarmonyOptions harmony;
  BenchOptions bench;
  EvalQualityOptions eval;
  std::vector<std::string> eval_linear_modes;
  std::vector<std::string> eval_kv_types;
  AttentionOptions attention;
  std::string attention_action;
  std::string harmony_action;
  bool stdin_jsonl = false;
  bool json = false;
  bool full = false;
};

// Commands as bits, so that a row can name several.
enum CommandBit : unsigned {
  kServeCommand = 1,
  kRunCommand = 2,
  kChatCommand = 4,
  kLogitsCommand = 8,
  kInspectCommand = 16,
  kTokenizeCommand = 32,
  kDetokenizeCommand = 64,
  kHarmonyCommand = 128,
  kBenchCommand = 1024,
  kAttentionCommand = 256,
  kSelftestCommand = 512,
  kEvalQualityCommand = 2048,
};

// Commands that share flags.
inline constexpr unsigned kGenerating = kServeCommand | kRunCommand | kChatCommand;
inline constexpr unsigned kOneShot = kRunCommand | kChatCommand;
inline constexpr unsigned kBatching = kServeCommand | kInspectCommand | kBenchCommand;
inline constexpr unsigned kTextOnly = kTokenizeCommand | kDetokenizeCommand;
inline constexpr unsigned kWithoutModel = kHarmonyCommand | kAttentionCommand | kSelftestCommand;
inline constexpr unsigned kLoading = kGenerating | kLogitsCommand | kInspectCommand | kBenchCommand;

inline constexpr double kMaxTokens = 1 << 24;
inline constexpr double kMaxBytes = 1LL << 50;

struct CommandSpec {
  CommandBit bit;
  std::string_view name;
  std::string_view usage;    // what follows the name
  std::string_view summary;  // one sentence
};

struct FlagSpec {
  std::string_view name;
  FlagKind kind = FlagKind::kText;
  unsigned commands = 0;
  std::string_view metavar = {};       // the value's name in --help; "" for switches
  std::string_view default_text = {};  // as a user would write it; "" for none
  FlagRange range = {};                // of kInt, kCount, kBytes, kReal
  std::string_view choices = {};       // "auto|bf16|f32"
  std::string_view auto_word = {};     // a word beside numbers that means 0
  bool is_positional = false;          // may also stand without its name, in table order
  bool is_secret = false;              // never shown
  // Also told of what a place of higher rank overrules: assign() is called once for each place.
  bool every_source = false;
  bool is_hidden = false;           // taken, but not listed by --help
  std::string_view spellings = {};  // other engines' spellings of the flag, "-fa|--fa"
  std::string_view help = {};
  void (*assign)(FlagTargets& targets, const FlagValue& value) = nullptr;
};

std::span<const CommandSpec> command_table();

// The table's parts, each in a file of its name: flags_engine.cpp, ...
std::span<const FlagSpec> engine_flags();
std::span<const FlagSpec> attention_flags();
std::span<const FlagSpec> serve_flags();
std::span<const FlagSpec> answer_flags();
std::span<const FlagSpec> bench_flags();
std::span<const FlagSpec> eval_flags();

// All of them, the table.
// A name may have several rows, for different commands.
std::span<const FlagSpec> flag_table();

// Known in every command but --help and --version: where the YAML file is.
inline constexpr std::string_view kConfigFlag = "config";

}  // namespace rapt
