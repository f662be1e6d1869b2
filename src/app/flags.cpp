#include "app/flags.h"

#include <array>
#include <string_view>
#include <utility>

#include "app/flag_table_internal.h"

namespace rapt {

namespace {

constexpr unsigned kGenerating = kServeCommand | kRunCommand | kChatCommand;
constexpr unsigned kOneShot = kRunCommand | kChatCommand;
constexpr unsigned kBatching = kServeCommand | kInspectCommand;
constexpr unsigned kTextOnly = kTokenizeCommand | kDetokenizeCommand;
constexpr unsigned kAll = kGenerating | kLogitsCommand | kInspectCommand;

constexpr double kMaxTokens = 1 << 24;
constexpr double kMaxBytes = 1LL << 50;

void assign_log_level(FlagTargets& to, const FlagValue& value) {
  using Name = std::pair<std::string_view, LogLevel>;
  constexpr auto kNames = std::to_array<Name>({
      {"debug", LogLevel::kDebug},
      {"info", LogLevel::kInfo},
      {"warning", LogLevel::kWarning},
      {"error", LogLevel::kError},
      {"off", LogLevel::kOff},
  });
  for (const auto& [name, level] : kNames) {
    if (value.text == name) {
      to.load.log_level = level;
    }
  }
}

constexpr std::string_view kLogLevels = "debug|info|warning|error|off";

constexpr auto kCommands = std::to_array<CommandSpec>({
    {kServeCommand, "serve", "MODEL [flags]", "Serves a model over HTTP with the OpenAI API."},
    {kRunCommand, "run", "MODEL PROMPT [flags]", "Answers one prompt and ends."},
    {kChatCommand, "chat", "MODEL [flags]", "Talks with a model in the terminal."},
    {kInspectCommand,
     "inspect",
     "MODEL [flags]",
     "Prints a checkpoint's architecture, shapes, sizes and memory plan."},
    {kLogitsCommand,
     "logits",
     "MODEL --token-ids IDS [flags]",
     "Prints the float32 logits of given tokens to stdout."},
    {kTokenizeCommand,
     "tokenize",
     "MODEL [TEXT] [flags]",
     "Prints the token ids of a text, or of each JSON string on stdin."},
    {kDetokenizeCommand,
     "detokenize",
     "MODEL [IDS] [flags]",
     "Prints the text of token ids, or of each JSON list on stdin."},
    {kHarmonyCommand,
     "harmony",
     "render|parse --stdin-jsonl [flags]",
     "Turns conversations into token ids, or a model's token ids into messages."},
});

constexpr auto kFlags = std::to_array<FlagSpec>({
    // The model and the engine.
    {.name = "model",
     .commands = kAll,
     .metavar = "MODEL",
     .is_positional = true,
     .help = "a checkpoint directory, or a name such as openai/gpt-oss-20b that is in the local "
             "Hugging Face cache",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.load.model = value.text; }},
    {.name = "model",
     .commands = kTextOnly,
     .metavar = "MODEL",
     .is_positional = true,
     .help = "as for `rapt serve`; a folder that holds only a tokenizer.json, or the word "
             "o200k_harmony for the built-in one of gpt-oss, will do",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.load.model = value.text; }},
    {.name = "prompt",
     .commands = kRunCommand,
     .metavar = "PROMPT",
     .is_positional = true,
     .help = "what to ask; put -- before one that begins with a dash",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.run.prompt = value.text; }},
    {.name = "threads",
     .kind = FlagKind::kInt,
     .commands = kAll,
     .metavar = "N",
     .default_text = "auto",
     .range = {.low = 1, .high = 1024},
     .auto_word = "auto",
     .help = "compute threads; auto: one for each core that this process may use",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.num_threads = static_cast<int>(value.whole); }},
    {.name = "kv-cache-dtype",
     .kind = FlagKind::kChoice,
     .commands = kAll,
     .metavar = "TYPE",
     .default_text = "auto",
     .choices = "auto|bf16|f32",
     .help = "element type of the KV cache; auto: bf16, or f32 with --reference",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.kv_cache_dtype = value.text; }},
    {.name = "kv-cache-memory-bytes",
     .kind = FlagKind::kBytes,
     .commands = kAll,
     .metavar = "BYTES",
     .default_text = "auto",
     .range = {.low = 1, .high = kMaxBytes},
     .auto_word = "auto",
     .help = "memory for the KV cache, e.g. 4GiB; auto: a quarter of what this process may use",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.kv_cache_bytes = static_cast<std::uint64_t>(value.whole); }},
    {.name = "max-model-len",
     .kind = FlagKind::kCount,
     .commands = kAll,
     .metavar = "TOKENS",
     .default_text = "auto",
     .range = {.low = 1, .high = kMaxTokens},
     .auto_word = "auto",
     .help = "longest prompt and answer together, e.g. 32k; auto: the model's own, or what the KV "
             "cache can hold",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.max_model_len = static_cast<int>(value.whole); }},
    {.name = "max-num-seqs",
     .kind = FlagKind::kInt,
     .commands = kBatching,
     .metavar = "N",
     .default_text = "64",
     .range = {.low = 1, .high = 4096},
     .help = "most sequences that run at once",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.max_num_seqs = static_cast<int>(value.whole); }},
    {.name = "max-num-batched-tokens",
     .kind = FlagKind::kCount,
     .commands = kAll,
     .metavar = "TOKENS",
     .default_text = "512",
     .range = {.low = 1, .high = 1 << 20},
     .help = "most tokens in one step; longer prompts are computed in chunks",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.max_num_batched_tokens = static_cast<int>(value.whole); }},
    {.name = "reference",
     .kind = FlagKind::kSwitch,
     .commands = kAll,
     .help = "compute with the plain reference kernels that define each operator (slow)",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.load.engine.reference = value.on; }},
    // A server tells its story; a command whose output is its answer stays quiet.
    {.name = "log-level",
     .kind = FlagKind::kChoice,
     .commands = kServeCommand,
     .metavar = "LEVEL",
     .default_text = "info",
     .choices = kLogLevels,
     .help = "what to log to stderr",
     .assign = assign_log_level},
    {.name = "log-level",
     .kind = FlagKind::kChoice,
     .commands = kAll & ~kServeCommand,
     .metavar = "LEVEL",
     .default_text = "warning",
     .choices = kLogLevels,
     .help = "what to log to stderr",
     .assign = assign_log_level},

    // The server.
    {.name = "host",
     .commands = kServeCommand,
     .metavar = "ADDRESS",
     .default_text = "localhost",
     .help = "where to listen; localhost means 127.0.0.1 and ::1, :: listens on all addresses",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.serve.host = value.text; }},
    {.name = "port",
     .kind = FlagKind::kInt,
     .commands = kServeCommand,
     .metavar = "PORT",
     .default_text = "8000",
     .range = {.low = 0, .high = 65535},
     .help = "TCP port; 0: any free one, named at start",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.serve.port = static_cast<int>(value.whole); }},
    {.name = "served-model-name",
     .kind = FlagKind::kTexts,
     .commands = kServeCommand,
     .metavar = "NAME",
     .help = "names that requests may use for the model; the first is the one in answers. Without "
             "it: MODEL as given",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.serve.served_model_names = value.texts; }},
    {.name = "api-key",
     .kind = FlagKind::kWholeTexts,
     .commands = kServeCommand,
     .metavar = "KEY",
     .is_secret = true,
     .help = "ask for this key in the Authorization header; several may be given",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.serve.api_keys = value.texts; }},
    {.name = "max-queued-requests",
     .kind = FlagKind::kInt,
     .commands = kServeCommand,
     .metavar = "N",
     .default_text = "1024",
     .range = {.low = 1, .high = 1'000'000},
     .help = "once so many choices wait, a new request is answered with status 429",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.max_queued_requests = static_cast<int>(value.whole); }},
    {.name = "shutdown-timeout",
     .kind = FlagKind::kReal,
     .commands = kServeCommand,
     .metavar = "SECONDS",
     .default_text = "30",
     .range = {.low = 0, .high = 86400},
     .help = "how long requests that run may still take after SIGTERM",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.serve.shutdown_timeout_seconds = value.real; }},

    // Conversations.
    {.name = "conversation-date",
     .kind = FlagKind::kDate,
     .commands = kGenerating,
     .metavar = "DATE",
     .default_text = "today",
     .choices = "today",
     .help = "the date that the model is told",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.prompt_options.conversation_date = value.text; }},
    {.name = "reasoning-effort",
     .kind = FlagKind::kChoice,
     .commands = kOneShot,
     .metavar = "EFFORT",
     .default_text = "medium",
     .choices = "low|medium|high",
     .help = "how much the model thinks before it answers",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.prompt_options.reasoning_effort = value.text; }},
    {.name = "system",
     .commands = kChatCommand,
     .metavar = "TEXT",
     .help = "instructions for the whole conversation",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.chat.system = value.text; }},

    // Sampling.
    {.name = "max-tokens",
     .kind = FlagKind::kCount,
     .commands = kOneShot,
     .metavar = "TOKENS",
     .default_text = "auto",
     .range = {.low = 1, .high = kMaxTokens},
     .auto_word = "auto",
     .help = "longest answer; auto: what the context leaves",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.sampling.max_tokens = static_cast<int>(value.whole); }},
    {.name = "temperature",
     .kind = FlagKind::kReal,
     .commands = kOneShot,
     .metavar = "T",
     .default_text = "1",
     .range = {.low = 0, .high = 100},
     .help = "0 always takes the likeliest token",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.sampling.temperature = static_cast<float>(value.real); }},
    {.name = "top-p",
     .kind = FlagKind::kReal,
     .commands = kOneShot,
     .metavar = "P",
     .default_text = "1",
     .range = {.low = 0, .high = 1, .low_excluded = true},
     .help = "draw from the fewest tokens whose probabilities add up to P",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.sampling.top_p = static_cast<float>(value.real); }},
    {.name = "top-k",
     .kind = FlagKind::kInt,
     .commands = kOneShot,
     .metavar = "K",
     .default_text = "0",
     .range = {.low = -1},
     .help = "draw from the K likeliest tokens; 0 or -1: from all",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.sampling.top_k = value.whole < 0 ? 0 : static_cast<int>(value.whole); }},
    {.name = "min-p",
     .kind = FlagKind::kReal,
     .commands = kOneShot,
     .metavar = "P",
     .default_text = "0",
     .range = {.low = 0, .high = 1},
     .help = "drop tokens less likely than P times the likeliest",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.sampling.min_p = static_cast<float>(value.real); }},
    {.name = "seed",
     .kind = FlagKind::kInt,
     .commands = kOneShot,
     .metavar = "N",
     .range = {.low = 0, .high = 9e18},
     .help = "the same seed gives the same answer; without it: a random one",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.sampling.seed = static_cast<std::uint64_t>(value.whole); }},

    // Text and token ids.
    {.name = "text",
     .commands = kTokenizeCommand,
     .metavar = "TEXT",
     .is_positional = true,
     .help = "what to tokenize; put -- before one that begins with a dash",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.tokenize.text = value.text; }},
    {.name = "token-ids",
     .kind = FlagKind::kTokenIds,
     .commands = kDetokenizeCommand,
     .metavar = "IDS",
     .is_positional = true,
     .help = "the token ids, e.g. 1,2,3",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.token_ids = value.token_ids; }},
    {.name = "action",
     .kind = FlagKind::kChoice,
     .commands = kHarmonyCommand,
     .metavar = "ACTION",
     .choices = "render|parse",
     .is_positional = true,
     .help = "render: a conversation as OpenAI's Harmony library writes it in JSON, to token ids; "
             "parse: the ids that a model wrote, to messages",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.harmony_action = value.text; }},
    {.name = "tokenizer",
     .commands = kHarmonyCommand,
     .metavar = "DIR",
     .default_text = "o200k_harmony",
     .help = "a folder with a tokenizer.json, or the word o200k_harmony for the built-in one",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.harmony.tokenizer = value.text; }},
    {.name = "strict",
     .kind = FlagKind::kSwitch,
     .commands = kHarmonyCommand,
     .help = "parse as OpenAI's library does, which refuses malformed output; else it is repaired",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.harmony.strict = value.on; }},
    {.name = "stdin-jsonl",
     .kind = FlagKind::kSwitch,
     .commands = kTextOnly | kHarmonyCommand,
     .help =
         "read one JSON value a line from stdin and print one a line, in order; a line that is "
         "refused is answered by {\"error\": ...}. This is also what happens without an argument",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.stdin_jsonl = value.on; }},
    {.name = "allow-special",
     .kind = FlagKind::kSwitch,
     .commands = kTokenizeCommand,
     .help = "turn names of special tokens in the text into these tokens; else they are plain text",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.tokenize.allow_special = value.on; }},

    // One-shot input and output.
    {.name = "raw",
     .kind = FlagKind::kSwitch,
     .commands = kRunCommand,
     .help = "give the model the prompt as it is, without the chat format",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.run.raw = value.on; }},
    {.name = "token-ids",
     .kind = FlagKind::kTokenIds,
     .commands = kRunCommand | kLogitsCommand,
     .metavar = "IDS",
     .help = "the input as token ids, e.g. 1,2,3",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.token_ids = value.token_ids; }},
    {.name = "token-ids-file",
     .commands = kRunCommand | kLogitsCommand,
     .metavar = "FILE",
     .help = "a file of token ids, separated by commas or blanks; brackets as in JSON are fine",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.token_ids_file = value.text; }},
    {.name = "ignore-eos",
     .kind = FlagKind::kSwitch,
     .commands = kRunCommand,
     .help = "go on past tokens that end an answer, up to --max-tokens",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.run.ignore_eos = value.on; }},
    {.name = "print-token-ids",
     .kind = FlagKind::kSwitch,
     .commands = kRunCommand,
     .help = "print the ids of the answer's tokens instead of its text",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.run.print_token_ids = value.on; }},
    {.name = "position-offset",
     .kind = FlagKind::kInt,
     .commands = kLogitsCommand,
     .metavar = "N",
     .default_text = "0",
     .range = {.low = 0, .high = kMaxTokens},
     .help = "the absolute position of the first token",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.logits.position_offset = static_cast<int>(value.whole); }},
    {.name = "positions",
     .kind = FlagKind::kChoice,
     .commands = kLogitsCommand,
     .metavar = "WHICH",
     .default_text = "all",
     .choices = "all|last",
     .help = "whose logits to print",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.logits.only_last = value.text == "last"; }},
    {.name = "format",
     .kind = FlagKind::kChoice,
     .commands = kLogitsCommand,
     .metavar = "FORMAT",
     .default_text = "json",
     .choices = "json|npy",
     .help = "how to print them",
     .assign =
         [](FlagTargets& to, const FlagValue& value) {
           to.logits.format = value.text == "npy" ? LogitsFormat::kNpy : LogitsFormat::kJson;
         }},
    {.name = "json",
     .kind = FlagKind::kSwitch,
     .commands = kInspectCommand,
     .help = "print JSON",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.inspect.json = value.on; }},
});

}  // namespace

std::span<const CommandSpec> command_table() {
  return kCommands;
}

std::span<const FlagSpec> flag_table() {
  return kFlags;
}

std::string version_text() {
  return std::string("rapt ") + RAPT_VERSION;
}

}  // namespace rapt
