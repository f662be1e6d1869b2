#include <array>

#include "app/flag_table_internal.h"

// Flags of `rapt bench`.

namespace rapt {

namespace {

std::vector<int> to_ints(const std::vector<TokenId>& numbers) {
  return {numbers.begin(), numbers.end()};
}

constexpr auto kFlags = std::to_array<FlagSpec>({
    {.name = "what",
     .kind = FlagKind::kChoice,
     .commands = kBenchCommand,
     .metavar = "WHAT",
     .choices = "latency|kernels",
     .is_positional = true,
     .help = "latency: prompts and single tokens through the engine; kernels: each matrix alone, "
             "against this machine's limits (rapt attention bench measures attention)",
     .assign =
         [](FlagTargets& to, const FlagValue& value) {
           to.bench.action = value.text == "kernels" ? BenchOptions::Action::kKernels
                                                     : BenchOptions::Action::kLatency;
         }},
    {.name = "prompt-tokens",
     .kind = FlagKind::kTokenIds,
     .commands = kBenchCommand,
     .metavar = "N,...",
     .default_text = "512",
     .help = "latency: lengths of the prompts that are timed; 0 for none",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.bench.prompt_tokens = to_ints(value.token_ids); }},
    {.name = "decode-tokens",
     .kind = FlagKind::kInt,
     .commands = kBenchCommand,
     .metavar = "N",
     .default_text = "32",
     .range = {.low = 1, .high = 1 << 20},
     .help = "latency: decode steps that are timed in each round",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.bench.decode_tokens = static_cast<int>(value.whole); }},
    {.name = "depths",
     .kind = FlagKind::kTokenIds,
     .commands = kBenchCommand,
     .metavar = "N,...",
     .default_text = "128",
     .help = "latency: tokens that are there before the decode steps; the prompt is computed anew "
             "in each round",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.bench.depths = to_ints(value.token_ids); }},
    {.name = "sequences",
     .kind = FlagKind::kTokenIds,
     .commands = kBenchCommand,
     .metavar = "N,...",
     .help = "latency: sequences that decode at once, 1 unless told; kernels: rows of the input, "
             "1, 8, 32 and 512 unless told",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.bench.sequences = to_ints(value.token_ids); }},
    {.name = "repeat",
     .kind = FlagKind::kInt,
     .commands = kBenchCommand,
     .metavar = "N",
     .default_text = "3",
     .range = {.low = 1, .high = 1000},
     .help = "rounds; medians are shown",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.bench.repeat = static_cast<int>(value.whole); }},
});

}  // namespace

std::span<const FlagSpec> bench_flags() {
  return kFlags;
}

}  // namespace rapt
