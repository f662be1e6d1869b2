#include "attention/select/history_internal.h"

namespace rapt {

namespace {

constexpr ForeignGroup kGroups[] = {
    {"turing", "T4 (SM 7.5)", "75"},
    {"ampere", "A100, A10, 30x0 (SM 8.0, 8.6), L4, L40S, 40x0 (SM 8.9)", "80 86 87 89"},
    {"hopper", "H100, H200, GH200 (SM 9.0)", "90"},
    {"blackwell", "B200, GB200 (SM 10.0), B300 (SM 10.3)", "100 103"},
    {"thor", "Thor (SM 11.0)", "110"},
    {"consumer", "50x0, RTX PRO 6000 (SM 12.0), DGX Spark (SM 12.1)", "120 121"},
    {"amd", "AMD GPUs", ""},
    {"xpu", "Intel GPUs", ""},
    {"cpu", "CPU", "cpu"},
};

constexpr ForeignRule kRules[] = {
    {"unset",
     "turing",
     ForeignOutcome::kFails,
     "TRITON_ATTN on paper; Triton itself dropped the device, FlashInfer's floor is SM 8.0"},
    {"unset",
     "ampere",
     ForeignOutcome::kRight,
     "TRITON_ATTN, the only one: FlashAttention 2 has no sink input, FlashInfer's sinks need SM "
     "10.x"
     " or 12.x"},
    {"unset",
     "hopper",
     ForeignOutcome::kRight,
     "FLASH_ATTN (FlashAttention 3), then TRITON_ATTN",
     "#28561 #28660"},
    {"unset",
     "blackwell",
     ForeignOutcome::kRight,
     "FLASHINFER (trtllm-gen), then FLASH_ATTN (FlashAttention 4), then TRITON_ATTN",
     "#32974"},
    {"unset",
     "thor",
     ForeignOutcome::kFails,
     "TRITON_ATTN is left; Triton had trouble compiling for SM 11.0",
     "#29317"},
    {"unset",
     "consumer",
     ForeignOutcome::kRight,
     "FLASHINFER (XQA, sinks since August 2026), then TRITON_ATTN",
     "#49718 #52148"},
    {"unset",
     "amd",
     ForeignOutcome::kRight,
     "ROCM_AITER_FA where it is switched on, ROCM_AITER_UNIFIED_ATTN, TRITON_ATTN",
     "#43817"},
    {"unset", "xpu", ForeignOutcome::kRight, "FLASH_ATTN (a kernel of its own), then TRITON_ATTN"},
    {"unset", "cpu", ForeignOutcome::kRight, "CPU_ATTN", "#27954"},

    {"invalid *_VLLM_V1 XFORMERS TREE_ATTN IPEX PALLAS ROCM_FLASH",
     "*",
     ForeignOutcome::kFails,
     "\"Unknown attention backend: '{name}'. Valid options are: ...\"",
     "#29262 #33379 #42121"},
    {"CPU_ATTN", "cpu", ForeignOutcome::kRight, "the CPU kernel, sinks included", "#27954"},
    {"*", "cpu", ForeignOutcome::kIgnored, "CPU_ATTN runs, whatever the name"},

    {"TRITON_ATTN", "ampere", ForeignOutcome::kRight, "the Triton kernel"},
    {"TRITON_ATTN",
     "hopper",
     ForeignOutcome::kWorks,
     "the Triton kernel; vLLM itself would take FLASH_ATTN"},
    {"TRITON_ATTN",
     "blackwell consumer",
     ForeignOutcome::kWorks,
     "the Triton kernel; vLLM itself would take FLASHINFER"},
    {"TRITON_ATTN",
     "turing thor",
     ForeignOutcome::kFails,
     "valid on paper; Triton itself fails on the device",
     "#29317"},
    {"TRITON_ATTN", "amd xpu", ForeignOutcome::kWorks, "the Triton kernel", "#47347"},

    {"FLASH_ATTN", "hopper", ForeignOutcome::kRight, "FlashAttention 3"},
    {"FLASH_ATTN",
     "blackwell",
     ForeignOutcome::kWorks,
     "FlashAttention 4; vLLM itself would take FLASHINFER",
     "#32974"},
    {"FLASH_ATTN", "xpu", ForeignOutcome::kRight, "a kernel of its own"},
    {"FLASH_ATTN",
     "turing ampere thor consumer",
     ForeignOutcome::kFails,
     "\"Selected backend {name} is not valid for this configuration. Reason: ['sink not"
     " supported on compute capability < 9.0']\" or its like: this is FlashAttention 2"},

    {"FLASHINFER", "blackwell", ForeignOutcome::kRight, "trtllm-gen kernels, HND layout"},
    {"FLASHINFER",
     "consumer",
     ForeignOutcome::kRight,
     "XQA kernels with sinks since August 2026; for weeks before, prefill ignored the sinks and"
     " GSM8K scored 0",
     "#49718 #52148"},
    {"FLASHINFER",
     "hopper",
     ForeignOutcome::kFails,
     "attention sinks not supported: FlashInfer's library has them on SM 9.0, vLLM does not pass"
     " them"},
    {"FLASHINFER",
     "turing ampere thor",
     ForeignOutcome::kFails,
     "\"Selected backend {name} is not valid for this configuration. Reason: ['attention sinks"
     " not supported']\""},

    {"ROCM_AITER_FA",
     "amd",
     ForeignOutcome::kRight,
     "AITER's kernels on CDNA3 and later, where AITER is switched on",
     "#43817"},
    {"ROCM_AITER_UNIFIED_ATTN", "amd", ForeignOutcome::kWorks, "the recipe's choice for gpt-oss"},
    {"ROCM_ATTN", "amd", ForeignOutcome::kFails, "attention sinks not supported"},
    {"CPU_ATTN", "*", ForeignOutcome::kFails, "for CPUs only"},
    {"FLEX_ATTENTION HPC_ATTN TURBOQUANT",
     "*",
     ForeignOutcome::kFails,
     "\"Selected backend {name} is not valid for this configuration. Reason: ['attention sinks not"
     " supported']\""},
    {"FLASHMLA FLASHMLA_SPARSE FLASHMLA_SPARSE_DSV4 TRITON_MLA CUTLASS_MLA FLASHINFER_MLA"
     " FLASHINFER_MLA_SPARSE FLASHINFER_MLA_SPARSE_SM120 FLASHINFER_MLA_SPARSE_DSV4 FLASH_ATTN_MLA"
     " FLASH_ATTN_MLA_SPARSE TOKENSPEED_MLA ROCM_AITER_MLA ROCM_AITER_TRITON_MLA"
     " ROCM_AITER_MLA_SPARSE ROCM_FLASHMLA_SPARSE_DSV4 CPU_MLA AMX_MLA XPU_MLA_SPARSE",
     "*",
     ForeignOutcome::kFails,
     "for MLA models (DeepSeek) only; gpt-oss has grouped-query attention"},
};

}  // namespace

std::span<const ForeignGroup> vllm_newest_groups() {
  return kGroups;
}

std::span<const ForeignRule> vllm_newest_rules() {
  return kRules;
}

}  // namespace rapt
