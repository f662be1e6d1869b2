#include <algorithm>

#include "attention/select/settings.h"
#include "attention/select/text_internal.h"

namespace rapt {

namespace {

using Kind = AttentionOptionKind;

constexpr AttentionOption kOptions[] = {
    {"--attention-backend",
     Kind::kBackend,
     "Rapt, vLLM, SGLang",
     "auto, NAME, or slot=NAME[,slot=NAME...] with the slots prefill, decode, full, sliding,"
     " prefill.full, ..."},
    {"--prefill-attention-backend", Kind::kPrefillBackend, "SGLang", "NAME for prompts"},
    {"--decode-attention-backend", Kind::kDecodeBackend, "SGLang", "NAME for single tokens"},
    {"--attn", Kind::kBothPhases, "mini-sglang", "NAME, or PREFILL,DECODE"},
    {"--attn-backend", Kind::kBackend, "TensorRT-LLM", "as --attention-backend"},
    {"--attn-implementation", Kind::kBackend, "Transformers", "as --attention-backend"},
    {"--attention-config",
     Kind::kJsonConfig,
     "vLLM",
     "JSON with backend, backend_per_kind and the fields below"},
    {"-ac", Kind::kJsonConfig, "vLLM", "short for --attention-config"},
    {"--attention-backend-policy",
     Kind::kPolicy,
     "Rapt",
     "strict: a name that cannot run is an error; prefer: a warning, and auto decides. By default"
     " strict for flags and config files; variables are always preferences"},
    {"RAPT_ATTENTION_BACKEND", Kind::kBackend, "Rapt", "as --attention-backend, as a preference"},
    {"VLLM_ATTENTION_BACKEND",
     Kind::kBackend,
     "vLLM",
     "as --attention-backend, as a preference; every name of every release is understood"},
    {"--flash-attn-version", Kind::kFlashVersion, "vLLM", "2, 3 or 4: the names fa2, fa3 and fa4"},
    {"VLLM_FLASH_ATTN_VERSION", Kind::kFlashVersion, "vLLM", "as flash-attn-version"},
    {"--use-trtllm-attention", Kind::kUseTrtllm, "vLLM", "true: the name trtllm_mha"},
    {"VLLM_USE_TRTLLM_ATTENTION", Kind::kUseTrtllm, "vLLM", "as use-trtllm-attention"},
    {"VLLM_USE_TRITON_FLASH_ATTN", Kind::kUseTritonFlash, "vLLM", "true: the name TRITON_ATTN"},
    {"-fa", Kind::kTriState, "llama.cpp", "on: cpu-flash or the best; off: the reference; auto"},
    {"--flash-attn", Kind::kTriState, "llama.cpp", "as -fa"},
    {"OLLAMA_FLASH_ATTENTION", Kind::kTriState, "Ollama", "as -fa"},
    {"LLAMA_ARG_FLASH_ATTN", Kind::kTriState, "llama.cpp", "as -fa"},

    {"--kv-cache-dtype-skip-layers",
     Kind::kExplained,
     "vLLM",
     "an FP8 KV cache keeps sliding layers in BF16 by itself"},
    {"--disable-hybrid-kv-cache-manager",
     Kind::kExplained,
     "vLLM",
     "sliding layers always keep their window only; no feature needs the opposite"},
    {"--disable-cascade-attn",
     Kind::kExplained,
     "vLLM",
     "there is no cascade attention to switch off"},
    {"VLLM_KV_CACHE_LAYOUT",
     Kind::kExplained,
     "vLLM",
     "all backends of a device share one layout, so there is none to choose"},
    {"VLLM_BATCH_INVARIANT",
     Kind::kExplained,
     "vLLM",
     "a request's bits never depend on its neighbours here, so there is nothing to switch on"},
    {"--use-prefill-decode-attention",
     Kind::kExplained,
     "vLLM",
     "prompts and single tokens always have kernels of their own; the two can be named apart with"
     " --attention-backend prefill=NAME,decode=NAME"},
    {"VLLM_V1_USE_PREFILL_DECODE_ATTENTION",
     Kind::kExplained,
     "vLLM",
     "it chose between kernels for AMD GPUs, which Rapt does not run on"},
    {"VLLM_ROCM_*", Kind::kExplained, "vLLM", "it concerns AMD GPUs, which Rapt does not run on"},
    {"--mla-prefill-backend",
     Kind::kExplained,
     "vLLM",
     "it concerns models with multi-head latent attention (DeepSeek)"},
    {"--flash-attn-max-num-splits-for-cuda-graph",
     Kind::kExplained,
     "vLLM",
     "how a context is split follows from its length here"},
    {"--disable-flashinfer-q-quantization",
     Kind::kExplained,
     "vLLM",
     "queries are never rounded to FP8 here"},
    {"--disable-flashinfer-prefill", Kind::kExplained, "vLLM", "FlashInfer is not used here"},
    {"VLLM_FLASHINFER_*", Kind::kExplained, "vLLM", "FlashInfer is not used here"},
    {"TRTLLM_FORCE_XQA",
     Kind::kExplained,
     "TensorRT-LLM",
     "decode always packs the query heads of a KV head here, as XQA does"},
};

// Lower case, `_` for `-`, without dashes in front and without "attention_config." or "ac.".
std::string normalized_option(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string normalized = lower_case(name);
  for (char& c : normalized) {
    c = c == '-' ? '_' : c;
  }
  for (const std::string_view prefix : {"attention_config.", "ac."}) {
    if (normalized.starts_with(prefix) && normalized.size() > prefix.size()) {
      normalized.erase(0, prefix.size());
      // vLLM's field "backend" is the option attention-backend.
      return normalized == "backend" ? "attention_backend" : normalized;
    }
  }
  return normalized;
}

}  // namespace

std::span<const AttentionOption> attention_options() {
  return kOptions;
}

const AttentionOption* find_attention_option(std::string_view name) {
  const std::string wanted = normalized_option(name);
  for (const AttentionOption& option : kOptions) {
    std::string known = normalized_option(option.name);
    if (known.ends_with('*')) {
      known.pop_back();
      if (wanted.starts_with(known)) {
        return &option;
      }
    } else if (wanted == known) {
      return &option;
    }
  }
  // RAPT_FLASH_ATTN is --flash-attn.
  constexpr std::string_view kOurs = "rapt_";
  return wanted.starts_with(kOurs) ? find_attention_option(wanted.substr(kOurs.size())) : nullptr;
}

}  // namespace rapt
