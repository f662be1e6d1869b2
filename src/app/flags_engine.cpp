#include <array>
#include <string_view>
#include <utility>

#include "app/flag_table_internal.h"

// Flags that name the model and set up the engine.

namespace rapt {

namespace {

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

void assign_cpu_level(FlagTargets& to, const FlagValue& value) {
  for (const CpuLevel level :
       {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512, CpuLevel::kAvx512Vnni}) {
    if (value.text == name_of(level)) {
      to.load.engine.cpu_level = level;
    }
  }
}

constexpr std::string_view kLogLevels = "debug|info|warning|error|off";

constexpr auto kFlags = std::to_array<FlagSpec>({
    // The model and the engine.
    {.name = "model",
     .commands = kLoading | kEvalQualityCommand,
     .metavar = "MODEL",
     .is_positional = true,
     .help =
         "a checkpoint directory, a .gguf file, or a name such as openai/gpt-oss-20b in the local "
         "Hugging Face cache",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.load.model = value.text; }},
    {.name = "model",
     .commands = kTextOnly,
     .metavar = "MODEL",
     .is_positional = true,
     .help = "as for `rapt serve`; a folder that holds only a tokenizer.json, or the word "
             "o200k_harmony for the built-in one of gpt-oss, will do",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.load.model = value.text; }},
    {.name = "model",
     .commands = kAttentionCommand,
     .metavar = "MODEL",
     .default_text = "openai/gpt-oss-20b",
     .help = "a checkpoint directory or a name, of which only config.json is read, or one of the "
             "presets openai/gpt-oss-20b and openai/gpt-oss-120b",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.load.model = value.text; }},
    {.name = "prompt",
     .commands = kRunCommand,
     .metavar = "PROMPT",
     .is_positional = true,
     .help = "what to ask; put -- before one that begins with a dash",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.run.prompt = value.text; }},
    {.name = "threads",
     .kind = FlagKind::kInt,
     .commands = kLoading | kEvalQualityCommand | kAttentionCommand | kSelftestCommand,
     .metavar = "N",
     .default_text = "auto",
     .range = {.low = 1, .high = 1024},
     .auto_word = "auto",
     .help = "compute threads; auto: one for each core that this process may use",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.num_threads = static_cast<int>(value.whole); }},
    {.name = "kv-cache-dtype",
     .kind = FlagKind::kChoice,
     .commands = kLoading | kAttentionCommand,
     .metavar = "TYPE",
     .default_text = "auto",
     .choices = "auto|bf16|f32|fp8",
     .help = "element type of the KV cache; auto: bf16, or f32 with --linear-mode f32; fp8 (E4M3) "
             "holds "
             "twice as much in full layers and costs accuracy",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.kv_cache_dtype = value.text; }},
    {.name = "kv-cache-memory-bytes",
     .kind = FlagKind::kBytes,
     .commands = kLoading,
     .metavar = "BYTES",
     .default_text = "auto",
     .range = {.low = 1, .high = kMaxBytes},
     .auto_word = "auto",
     .help = "memory for the KV cache, e.g. 4GiB; auto: a quarter of what this process may use",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.kv_cache_bytes = static_cast<std::uint64_t>(value.whole); }},
    {.name = "max-model-len",
     .kind = FlagKind::kCount,
     .commands = kLoading | kAttentionCommand,
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
     .commands = kLoading | kEvalQualityCommand | kAttentionCommand,
     .metavar = "TOKENS",
     .default_text = "512",
     .range = {.low = 1, .high = 1 << 20},
     .help = "most tokens in one step; longer prompts are computed in chunks",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.max_num_batched_tokens = static_cast<int>(value.whole); }},
    {.name = "reference",
     .kind = FlagKind::kSwitch,
     .commands = kLoading | kAttentionCommand,
     .help = "compute with the plain reference kernels that define each operator (slow)",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.load.engine.reference = value.on; }},
    {.name = "linear-mode",
     .kind = FlagKind::kChoice,
     .commands = kLoading,
     .metavar = "MODE",
     .default_text = "auto",
     .choices = "auto|i16|i8|f32",
     .help =
         "what weights in blocks (MXFP4, Q8_0 and the like) are multiplied with: i16, activations "
         "as 16-bit integers; i8, as 8-bit integers, faster and less exact; f32, as they are, "
         "slow. auto: i16, or f32 with --reference",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.linear_mode = value.text; }},
    {.name = "cpu-level",
     .kind = FlagKind::kChoice,
     .commands = kLoading | kEvalQualityCommand | kAttentionCommand,
     .metavar = "LEVEL",
     .default_text = "auto",
     .choices = "auto|scalar|avx2|avx512|avx512vnni",
     .help = "instructions that the kernels use; every level gives the same bits. auto: the best "
             "that the machine has",
     .assign = assign_cpu_level},
    {.name = "prepared-dir",
     .commands = kLoading,
     .metavar = "DIR",
     .help = "look here for a copy of the weights in the order in which the kernels read them "
             "fastest; rapt serve writes it in the background, about as large as the model, if it "
             "is not there. Changes no bit of an answer",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.load.engine.prepared_dir = value.text; }},
    {.name = "mlock",
     .kind = FlagKind::kSwitch,
     .commands = kLoading,
     .help = "keep the weights and the KV cache in memory once they have been used",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.load.engine.lock_memory = value.on; }},
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
     .commands = (kLoading & ~kServeCommand) | kEvalQualityCommand,
     .metavar = "LEVEL",
     .default_text = "warning",
     .choices = kLogLevels,
     .help = "what to log to stderr",
     .assign = assign_log_level},
});

}  // namespace

std::span<const FlagSpec> engine_flags() {
  return kFlags;
}

}  // namespace rapt
