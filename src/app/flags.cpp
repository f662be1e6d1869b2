#include "app/flags.h"

#include <array>
#include <vector>

#include "app/flag_table_internal.h"

namespace rapt {

namespace {

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
    {kBenchCommand,
     "bench",
     "latency|kernels MODEL [flags]",
     "Measures how fast a model runs here, beside what the machine can do."},
    {kEvalQualityCommand,
     "eval-quality",
     "MODEL --text FILE [flags]",
     "Measures what each linear mode and KV cache type costs in quality, on a text."},
    {kAttentionCommand,
     "attention",
     "list|explain|selftest|bench|docs [NAME] [flags]",
     "Shows what can compute attention, what a backend's name means, and checks or measures them."},
    {kSelftestCommand,
     "selftest",
     "[flags]",
     "Checks this machine's CPU levels: every kernel against its definition."},
});

// `rapt bench` first: what stands before the MODEL there.
std::vector<FlagSpec> joined_flags() {
  std::vector<FlagSpec> flags;
  for (const auto part :
       {bench_flags(),
        eval_flags(),
        engine_flags(),
        attention_flags(),
        serve_flags(),
        answer_flags()}) {
    flags.insert(flags.end(), part.begin(), part.end());
  }
  return flags;
}

}  // namespace

std::span<const CommandSpec> command_table() {
  return kCommands;
}

std::span<const FlagSpec> flag_table() {
  static const std::vector<FlagSpec> flags = joined_flags();
  return flags;
}

std::string version_text() {
  return std::string("rapt ") + RAPT_VERSION;
}

}  // namespace rapt
