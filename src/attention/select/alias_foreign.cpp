#include "attention/select/alias_internal.h"

namespace rapt {

namespace {

constexpr AliasTargets kNowhere = {kNoTarget, kNoTarget, kNoTarget, kNoTarget};

constexpr AliasInfo on_other_device(
    std::string_view name,
    std::string_view spellings,
    std::string_view engines,
    std::string_view what
) {
  return {name, spellings, engines, AliasClass::kOtherDevice, kNowhere, what};
}

constexpr AliasInfo for_mla(
    std::string_view name,
    std::string_view spellings = {},
    std::string_view engines = "vLLM",
    std::string_view what = "vLLM's back end for MLA models (DeepSeek)"
) {
  return {name, spellings, engines, AliasClass::kMlaOnly, kNowhere, what};
}

constexpr AliasInfo for_other_models(
    std::string_view name,
    std::string_view what,
    std::string_view spellings = {},
    std::string_view engines = "vLLM"
) {
  return {name, spellings, engines, AliasClass::kOtherModel, kNowhere, what};
}

constexpr std::string_view kForAmd = "vLLM's back end for AMD GPUs";

constexpr AliasInfo kAliases[] = {
    on_other_device("ROCM_ATTN", "", "vLLM", kForAmd),
    on_other_device("ROCM_FLASH", "", "vLLM up to 0.11", kForAmd),
    on_other_device("ROCM_AITER_FA", "", "vLLM", kForAmd),
    on_other_device("ROCM_AITER_UNIFIED_ATTN", "", "vLLM", kForAmd),
    on_other_device("aiter", "", "SGLang", "SGLang's back end for AMD GPUs"),
    on_other_device("wave", "", "SGLang", "SGLang's back end for AMD GPUs"),
    on_other_device("PALLAS", "", "vLLM", "vLLM's back end for TPUs"),
    on_other_device("OPENVINO", "", "vLLM before 0.11", "vLLM's former back end on OpenVINO"),
    on_other_device("HPU_ATTN", "", "vLLM before 0.11", "vLLM's former back end for Gaudi"),
    on_other_device("ascend", "", "SGLang", "SGLang's back end for Ascend NPUs"),
    on_other_device("intel_xpu", "", "SGLang", "SGLang's back end for Intel GPUs"),
    on_other_device("XPU_MLA_SPARSE", "", "vLLM", "vLLM's back end for Intel GPUs"),

    for_mla("FLASHMLA"),
    for_mla("FLASHMLA_SPARSE"),
    for_mla("FLASHMLA_SPARSE_DSV4"),
    for_mla("TRITON_MLA"),
    for_mla("TRITON_MLA_SPARSE", "", "vLLM from about 0.32"),
    for_mla("CUTLASS_MLA", "cutlassmla", "vLLM, SGLang"),
    for_mla("FLASHINFER_MLA"),
    for_mla("FLASHINFER_MLA_SPARSE"),
    for_mla("FLASHINFER_MLA_SPARSE_SM120"),
    for_mla("FLASHINFER_MLA_SPARSE_DSV4"),
    for_mla("FLASH_ATTN_MLA"),
    for_mla("FLASH_ATTN_MLA_SPARSE"),
    for_mla("TOKENSPEED_MLA"),
    for_mla("ROCM_AITER_MLA", "", "vLLM", "vLLM's back end for MLA models (DeepSeek) on AMD GPUs"),
    for_mla(
        "ROCM_AITER_TRITON_MLA", "", "vLLM", "vLLM's back end for MLA models (DeepSeek) on AMD GPUs"
    ),
    for_mla(
        "ROCM_AITER_MLA_SPARSE", "", "vLLM", "vLLM's back end for MLA models (DeepSeek) on AMD GPUs"
    ),
    for_mla(
        "ROCM_FLASHMLA_SPARSE_DSV4",
        "",
        "vLLM",
        "vLLM's back end for MLA models (DeepSeek) on AMD GPUs"
    ),
    for_mla("CPU_MLA", "", "vLLM", "vLLM's CPU back end for MLA models (DeepSeek)"),
    for_mla("AMX_MLA", "", "vLLM", "vLLM's back end for MLA models (DeepSeek) on CPUs with AMX"),
    for_mla("trtllm_mla", "", "SGLang", "SGLang's back end for MLA models (DeepSeek)"),

    for_other_models(
        "DUAL_CHUNK_FLASH_ATTN",
        "vLLM's former back end for models with dual chunk attention (Qwen 1M)",
        "dual_chunk",
        "vLLM up to 0.11, SGLang"
    ),
    for_other_models(
        "DIFFERENTIAL_FLASH_ATTN",
        "vLLM's former back end for models with differential attention",
        "",
        "vLLM up to 0.11"
    ),
    for_other_models(
        "FLASH_ATTN_DIFFKV", "vLLM's back end for models whose keys and values differ in size"
    ),
    for_other_models(
        "TRITON_ATTN_DIFFKV", "vLLM's back end for models whose keys and values differ in size"
    ),
    for_other_models("MINIMAX_M3_SPARSE", "vLLM's back end for MiniMax models"),
    for_other_models("CUTLASS_MSA", "vLLM's decode kernel for one family of models"),
    for_other_models("TRITON_MSA", "vLLM's decode kernel for one family of models"),
    for_other_models("HPC_ATTN", "vLLM's back end for heads of 128 without sinks or windows"),
    for_other_models(
        "BLOCKSPARSE",
        "vLLM's former back end for block-sparse models (Phi-3)",
        "blocksparse_flash_attn blocksparse_attn",
        "vLLM before 0.11"
    ),

    {"TURBOQUANT",
     "",
     "vLLM",
     AliasClass::kOtherOption,
     kNowhere,
     "vLLM's KV cache of 3 to 4 bits, without sinks",
     "What is stored in the KV cache is chosen with --kv-cache-dtype"},
    {"NO_ATTENTION",
     "",
     "vLLM",
     AliasClass::kNotSelectable,
     kNowhere,
     "vLLM's mark of models without attention, which cannot be chosen"},
    {"CUSTOM",
     "",
     "vLLM",
     AliasClass::kNotSelectable,
     kNowhere,
     "vLLM's place for plug-ins, which cannot be chosen by name"},
};

}  // namespace

std::span<const AliasInfo> foreign_aliases() {
  return kAliases;
}

}  // namespace rapt
