#include <array>

#include "app/flag_table_internal.h"

// Flags of commands that take one input and print one result.

namespace rapt {

namespace {

constexpr auto kFlags = std::to_array<FlagSpec>({
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
     .commands = kGenerating,
     .metavar = "T",
     .range = {.low = 0, .high = 100},
     .help = "0 always takes the likeliest token; without it: what the model's files say, else 1, "
             "at which small models ramble",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.sampling.temperature = static_cast<float>(value.real); }},
    {.name = "top-p",
     .kind = FlagKind::kReal,
     .commands = kGenerating,
     .metavar = "P",
     .range = {.low = 0, .high = 1, .low_excluded = true},
     .help = "draw from the fewest tokens whose probabilities add up to P; without it: as the "
             "temperature",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.sampling.top_p = static_cast<float>(value.real); }},
    {.name = "top-k",
     .kind = FlagKind::kInt,
     .commands = kGenerating,
     .metavar = "K",
     .range = {.low = -1},
     .help = "draw from the K likeliest tokens; 0 or -1: from all; without it: as the temperature",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.sampling.top_k = value.whole < 0 ? 0 : static_cast<int>(value.whole); }},
    {.name = "min-p",
     .kind = FlagKind::kReal,
     .commands = kGenerating,
     .metavar = "P",
     .range = {.low = 0, .high = 1},
     .help = "drop tokens less likely than P times the likeliest; without it: as the temperature",
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
    {.name = "action",
     .kind = FlagKind::kChoice,
     .commands = kAttentionCommand,
     .metavar = "ACTION",
     .choices = "list|explain|selftest|bench|docs",
     .is_positional = true,
     .help =
         "list: what can run, ranked, and why; explain: what a backend's name means here and "
         "meant elsewhere; selftest: check every kernel of this machine; bench: measure them and "
         "keep the result for later choices; docs: print the tables of docs/ATTENTION.md",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.attention_action = value.text; }},
    {.name = "name",
     .commands = kAttentionCommand,
     .metavar = "NAME",
     .is_positional = true,
     .help = "explain: a backend's name in any engine, or the word unset",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.attention.name = value.text; }},
    {.name = "device",
     .commands = kAttentionCommand,
     .metavar = "DEVICE",
     .help = "cpu, cpu:avx2, sm80, sm90, ...: simulated where this machine has none; without it: "
             "this machine's CPU (explain: every kind)",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.attention.device = value.text; }},
    {.name = "for",
     .commands = kAttentionCommand,
     .metavar = "ENGINE",
     .help = "explain: how the name fared in a release, e.g. vllm@0.11.0",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.attention.release = value.text; }},
    {.name = "calibration-file",
     .commands = kAttentionCommand,
     .metavar = "FILE",
     .help = "bench: where to keep the measurements; without it: in the user's cache folder, where "
             "later choices look",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.attention.calibration_file = value.text; }},
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
     .commands = kRunCommand | kLogitsCommand | kEvalQualityCommand,
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
    {.name = "full",
     .kind = FlagKind::kSwitch,
     .commands = kAttentionCommand | kSelftestCommand,
     .help = "selftest: every case there is, which takes long; else those of a start",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.full = value.on; }},
    {.name = "json",
     .kind = FlagKind::kSwitch,
     .commands = kInspectCommand | kBenchCommand | kEvalQualityCommand | kAttentionCommand |
                 kSelftestCommand,
     .help = "print JSON",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.json = value.on; }},
});

}  // namespace

std::span<const FlagSpec> answer_flags() {
  return kFlags;
}

}  // namespace rapt
