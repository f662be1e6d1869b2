#include "attention/select/history_internal.h"

namespace rapt {

namespace {

constexpr ForeignGroup kGroups[] = {
    {"turing", "T4 (SM 7.5)", "75"},
    {"ampere", "A100, A10, 30x0 (SM 8.0, 8.6), L4, L40S, 40x0 (SM 8.9)", "80 86 87 89"},
    {"hopper", "H100, H200, GH200 (SM 9.0)", "90"},
    {"b200", "B200, GB200 (SM 10.0)", "100"},
    {"later", "B300 (SM 10.3), 50x0, RTX PRO 6000 (SM 12.0), DGX Spark (SM 12.1)", "103 120 121"},
    {"thor", "Thor (SM 11.0)", "110"},
    {"amd", "AMD GPUs", ""},
    {"cpu", "CPU", "cpu"},
};

constexpr std::string_view kInvalid =
    "\"Invalid value '{name}' for VLLM_ATTENTION_BACKEND. Valid options: [...].\", before anything "
    "starts";

constexpr ForeignRule kRules[] = {
    // Without a name.
    {"unset",
     "ampere later",
     ForeignOutcome::kRight,
     "TRITON_ATTN: the Triton unified kernel, the only one with sinks here",
     "#22714"},
    {"unset",
     "hopper",
     ForeignOutcome::kRight,
     "FLASH_ATTN: FlashAttention 3 with the sink epilogue"},
    {"unset",
     "b200",
     ForeignOutcome::kRight,
     "FLASHINFER: TensorRT-LLM's trtllm-gen kernels, HND layout"},
    {"unset",
     "thor",
     ForeignOutcome::kFails,
     "TRITON_ATTN is chosen, but Triton had trouble compiling for SM 11.0",
     "#29317"},
    {"unset",
     "turing",
     ForeignOutcome::kWrongOutput,
     "FLEX_ATTENTION is chosen below SM 8.0, and it drops the sinks",
     "#23203 #29743"},
    {"unset", "amd", ForeignOutcome::kRight, "TRITON_ATTN; ROCM_AITER_FA had no sinks yet"},
    {"unset", "cpu", ForeignOutcome::kFails, "the CPU back end had no sinks", "#23934"},

    // Names with the old suffix never get as far as a device: the environment module raises first.
    {"*_VLLM_V1",
     "*",
     ForeignOutcome::kFails,
     "\"Invalid value '{name}' for VLLM_ATTENTION_BACKEND. Valid options: [...].\": the suffix was"
     " removed, and a strict check runs before the friendly code that would have stripped it",
     "#24761 #25489"},
    {"invalid", "*", ForeignOutcome::kFails, kInvalid, "#24761"},

    // The platform decides, whatever was asked.
    {"*",
     "cpu",
     ForeignOutcome::kFails,
     "the name is ignored with an info line, \"Cannot use {name} backend on CPU.\"; the CPU back "
     "end"
     " had no sinks",
     "#23934"},
    {"TRITON_ATTN", "amd", ForeignOutcome::kRight, "the Triton kernel, as without a name"},
    {"FLASH_ATTN FLASHINFER XFORMERS FLEX_ATTENTION TREE_ATTN",
     "amd",
     ForeignOutcome::kIgnored,
     "the name is ignored; TRITON_ATTN runs"},

    {"TRITON_ATTN",
     "ampere later",
     ForeignOutcome::kRight,
     "the Triton unified kernel, the only one with sinks here",
     "#22714"},
    {"TRITON_ATTN",
     "hopper",
     ForeignOutcome::kWorks,
     "the Triton kernel; vLLM itself would take FLASH_ATTN"},
    {"TRITON_ATTN",
     "b200",
     ForeignOutcome::kWorks,
     "the Triton kernel; vLLM itself would take FLASHINFER"},
    {"TRITON_ATTN",
     "thor",
     ForeignOutcome::kFails,
     "Triton had trouble compiling for SM 11.0",
     "#29317"},
    {"TRITON_ATTN",
     "turing",
     ForeignOutcome::kFails,
     "Triton had dropped the device",
     "#23203 #29743"},

    {"FLASH_ATTN", "hopper", ForeignOutcome::kRight, "FlashAttention 3 with the sink epilogue"},
    {"FLASH_ATTN",
     "*",
     ForeignOutcome::kFails,
     "AssertionError \"Sinks are only supported in FlashAttention 3\", raised while the layers are"
     " built",
     "#22331"},

    {"FLASHINFER", "b200", ForeignOutcome::kRight, "TensorRT-LLM's trtllm-gen kernels, HND layout"},
    {"FLASHINFER",
     "*",
     ForeignOutcome::kFails,
     "NotImplementedError: FlashInfer does not support attention sinks, \"please use trtllm on"
     " blackwell or flash attention on earlier GPUs.\""},

    {"XFORMERS",
     "*",
     ForeignOutcome::kFails,
     "TypeError, unexpected keyword 'sinks': it never supported them, and was deleted for 0.12",
     "#29262"},
    {"FLEX_ATTENTION",
     "*",
     ForeignOutcome::kWrongOutput,
     "starts, swallows 'sinks' in its catch-all arguments, and answers with wrong text"},
    {"TREE_ATTN", "*", ForeignOutcome::kFails, "TypeError, unexpected keyword 'sinks'", "#42121"},
    {"FLASHMLA TRITON_MLA CUTLASS_MLA FLASHINFER_MLA FLASH_ATTN_MLA ROCM_AITER_MLA",
     "*",
     ForeignOutcome::kFails,
     "for MLA models (DeepSeek) only; gpt-oss has grouped-query attention"},
};

}  // namespace

std::span<const ForeignGroup> vllm_0_11_groups() {
  return kGroups;
}

std::span<const ForeignRule> vllm_0_11_rules() {
  return kRules;
}

}  // namespace rapt
