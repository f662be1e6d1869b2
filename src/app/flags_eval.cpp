#include <array>

#include "app/flag_table_internal.h"

// Flags of `rapt eval-quality`.

namespace rapt {

namespace {

constexpr auto kFlags = std::to_array<FlagSpec>({
    {.name = "text",
     .commands = kEvalQualityCommand,
     .metavar = "FILE",
     .help = "the text to evaluate on, as UTF-8; /dev/stdin reads a pipe",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.eval.text_file = value.text; }},
    {.name = "linear-mode",
     .kind = FlagKind::kTexts,
     .commands = kEvalQualityCommand,
     .metavar = "MODE,...",
     .default_text = "i16,i8,f32",
     .help = "the linear modes to evaluate, each with every KV cache type: i16, i8, f32",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.eval_linear_modes = value.texts; }},
    {.name = "kv-cache-dtype",
     .kind = FlagKind::kTexts,
     .commands = kEvalQualityCommand,
     .metavar = "TYPE,...",
     .default_text = "f32,bf16,fp8",
     .help = "the element types of the KV cache to evaluate: f32, bf16, fp8",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.eval_kv_types = value.texts; }},
    {.name = "context-length",
     .kind = FlagKind::kCount,
     .commands = kEvalQualityCommand,
     .metavar = "TOKENS",
     .default_text = "512",
     .range = {.low = 2, .high = kMaxTokens},
     .help =
         "the text is read in windows of so many tokens, each by itself; what the model's texts "
         "begin with (BOS) stands before each and counts",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.eval.context_length = static_cast<int>(value.whole); }},
    {.name = "stride",
     .kind = FlagKind::kCount,
     .commands = kEvalQualityCommand,
     .metavar = "TOKENS",
     .default_text = "auto",
     .range = {.low = 1, .high = kMaxTokens},
     .auto_word = "auto",
     .help = "a window begins so many tokens after the one before; what they share is context only "
             "the second time. auto: the context length, so that they share nothing",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.eval.stride = static_cast<int>(value.whole); }},
    {.name = "max-tokens",
     .kind = FlagKind::kCount,
     .commands = kEvalQualityCommand,
     .metavar = "TOKENS",
     .default_text = "auto",
     .range = {.low = 2, .high = kMaxTokens},
     .auto_word = "auto",
     .help = "how much of the text to use; auto: all of it",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.eval.max_tokens = static_cast<int>(value.whole); }},
    {.name = "reference",
     .kind = FlagKind::kSwitch,
     .commands = kEvalQualityCommand,
     .help = "measure against the plain reference kernels (slow); without it the reference is the "
             "fast fp32 kernels with an F32 cache, which differ from them by rounding only",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.eval.plain_reference = value.on; }},
});

}  // namespace

std::span<const FlagSpec> eval_flags() {
  return kFlags;
}

}  // namespace rapt
