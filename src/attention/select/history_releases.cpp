#include "attention/select/history_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kNames011 =
    "FLASH_ATTN TRITON_ATTN XFORMERS ROCM_FLASH ROCM_AITER_MLA ROCM_AITER_FA TORCH_SDPA FLASHINFER"
    " FLASHINFER_MLA TRITON_MLA CUTLASS_MLA FLASHMLA FLASH_ATTN_MLA PALLAS IPEX"
    " DUAL_CHUNK_FLASH_ATTN DIFFERENTIAL_FLASH_ATTN NO_ATTENTION FLEX_ATTENTION TREE_ATTN "
    "ROCM_ATTN";

constexpr std::string_view kNamesNewest =
    "FLASH_ATTN FLASH_ATTN_DIFFKV TRITON_ATTN TRITON_ATTN_DIFFKV ROCM_ATTN ROCM_AITER_FA"
    " ROCM_AITER_UNIFIED_ATTN ROCM_AITER_MLA ROCM_AITER_TRITON_MLA ROCM_AITER_MLA_SPARSE"
    " XPU_MLA_SPARSE TORCH_SDPA FLASHINFER FLASHINFER_MLA FLASHINFER_MLA_SPARSE"
    " FLASHINFER_MLA_SPARSE_SM120 FLASHINFER_MLA_SPARSE_DSV4 TOKENSPEED_MLA TRITON_MLA CUTLASS_MLA"
    " FLASHMLA FLASHMLA_SPARSE FLASHMLA_SPARSE_DSV4 ROCM_FLASHMLA_SPARSE_DSV4 FLASH_ATTN_MLA"
    " FLASH_ATTN_MLA_SPARSE MINIMAX_M3_SPARSE CUTLASS_MSA TRITON_MSA NO_ATTENTION FLEX_ATTENTION"
    " HPC_ATTN CPU_ATTN CPU_MLA AMX_MLA TURBOQUANT CUSTOM";

constexpr ForeignRelease kVllm[] = {
    {.engine = "vLLM",
     .first = {0, 0, 0},
     .last = {0, 10, 0},
     .names = "",
     .given =
         "VLLM_ATTENTION_BACKEND, with names such as TRITON_ATTN_VLLM_V1. This release does not"
         " run gpt-oss, which came with 0.10.1.",
     .right_answer = "None: gpt-oss needs vLLM 0.10.1 or later."},
    {.engine = "vLLM",
     .first = {0, 10, 1},
     .last = {0, 10, 999},
     .names = "",
     .given =
         "VLLM_ATTENTION_BACKEND, with names such as TRITON_ATTN_VLLM_V1; TRITON_ATTN without"
         " the suffix did not exist yet. An unknown name gives \"Invalid attention backend:"
         " '...'. Valid backends are: [...]\"; a known one that cannot run fails while layers are"
         " built or in the first forward.",
     .right_answer = "None: leave VLLM_ATTENTION_BACKEND unset; the Triton kernel with sinks is"
                     " chosen by itself on Ampere since 0.10.1.",
     .sources = "#22217 #22714"},
    {.engine = "vLLM",
     .first = {0, 11, 0},
     .last = {0, 11, 0},
     .names = kNames011,
     .given =
         "VLLM_ATTENTION_BACKEND, case-sensitive. An unknown name gives \"Invalid value '...' for"
         " VLLM_ATTENTION_BACKEND. Valid options: [...].\"; a known one is taken without any"
         " check, so what cannot run fails late.",
     .right_answer =
         "None: leave VLLM_ATTENTION_BACKEND unset; from 0.10.1 on vLLM chooses the right"
         " one itself.",
     .sources = "#24761 #25489"},
    {.engine = "vLLM",
     .first = {0, 11, 1},
     .last = {0, 12, 999},
     .names = "",
     .given =
         "VLLM_ATTENTION_BACKEND. An unknown name gives \"Invalid value '...' for"
         " VLLM_ATTENTION_BACKEND. Valid options: [...].\"; a known one that cannot run gives"
         " \"Selected backend ... is not valid for this configuration. Reason: [...]\". The"
         " selection was rewritten in 0.11.1 and first lost the sink flag, which broke gpt-oss on"
         " SM 10.0 and Hopper.",
     .right_answer = "None: leave VLLM_ATTENTION_BACKEND unset, in 0.11.2 or later.",
     .sources = "#24794 #28561 #28660 #29262 #27954"},
    {.engine = "vLLM",
     .first = {0, 13, 0},
     .last = {0, 14, 999},
     .names = "",
     .given =
         "--attention-backend, --attention-config.backend or -ac.backend; VLLM_ATTENTION_BACKEND"
         " is still read, with a warning that it will go. An unknown name gives \"Unknown"
         " attention backend: '...'. Valid options are: ...\".",
     .right_answer = "None: leave it unset.",
     .sources = "#26315"},
    {.engine = "vLLM",
     .first = {0, 15, 0},
     .last = {0, 24, 999},
     .names = "",
     .given = "--attention-backend, --attention-config.backend or -ac.backend only:"
              " VLLM_ATTENTION_BACKEND is ignored without a word. Names are upper-cased first, and"
              " auto is one, from about 0.17 on.",
     .right_answer = "None: leave it unset.",
     .sources = "#32812 #50292 #35738"},
    {.engine = "vLLM",
     .first = {0, 25, 0},
     .last = {0, 27, 999},
     .names = kNamesNewest,
     .given = "--attention-backend, --attention-config.backend or -ac.backend, and backend_per_kind"
              " for each kind of layer; VLLM_ATTENTION_BACKEND is ignored without a word.",
     .right_answer = "None: leave it unset.",
     .sources = "#32812 #50292 #48011 #48012"},
    {.engine = "vLLM",
     .first = {0, 28, 0},
     .last = {0, 33, 999},
     .names = "",
     .given = "as in 0.27, as far as known: of these releases only single new names are recorded"
              " (TRITON_FLASH_ATTN, TRITON_FLASHINFER and TRITON_MLA_SPARSE, about 0.32).",
     .right_answer = "None: leave it unset."},
};

constexpr ForeignGroup kSglangGroups[] = {
    {"other", "GPUs below SM 9.0 and SM 12.x", "75 80 86 87 89 110 120 121"},
    {"hopper", "H100, H200, GH200 (SM 9.0)", "90"},
    {"blackwell", "B200, GB200 (SM 10.0), B300 (SM 10.3)", "100 103"},
    {"amd", "AMD GPUs", ""},
    {"xpu", "Intel GPUs", ""},
    {"cpu", "CPU with AMX", "cpu"},
};

constexpr ForeignRule kSglangRules[] = {
    {"unset", "other", ForeignOutcome::kRight, "triton"},
    {"unset", "hopper", ForeignOutcome::kRight, "fa3"},
    {"unset", "blackwell", ForeignOutcome::kRight, "trtllm_mha"},
    {"unset", "amd", ForeignOutcome::kRight, "aiter"},
    {"unset", "xpu", ForeignOutcome::kRight, "intel_xpu"},
    {"unset", "cpu", ForeignOutcome::kRight, "intel_amx"},
    {"TRITON_ATTN",
     "other",
     ForeignOutcome::kRight,
     "the Triton kernel, its choice for gpt-oss here"},
    {"TRITON_ATTN",
     "hopper blackwell",
     ForeignOutcome::kWorks,
     "the Triton kernel; on eight B200 it was measured at 14607 tokens a second against 17151 of"
     " trtllm_mha",
     "sglang:8834"},
    {"fa3", "hopper", ForeignOutcome::kRight, "FlashAttention 3, its choice for gpt-oss here"},
    {"fa3", "other blackwell", ForeignOutcome::kFails, "FlashAttention 3 has sinks on SM 9.0 only"},
    {"trtllm_mha", "blackwell", ForeignOutcome::kRight, "its choice for gpt-oss here"},
    {"trtllm_mha",
     "other hopper",
     ForeignOutcome::kFails,
     "not for this GPU, though it was once chosen on SM 12.0",
     "sglang:14842"},
    {"FLASHINFER",
     "hopper blackwell",
     ForeignOutcome::kFails,
     "has no sinks there; later releases fall back to triton",
     "sglang:23139"},
    {"aiter", "amd", ForeignOutcome::kRight, "its choice for gpt-oss here"},
    {"intel_xpu", "xpu", ForeignOutcome::kRight, "its choice for gpt-oss here"},
    {"intel_amx", "cpu", ForeignOutcome::kRight, "its choice for gpt-oss here"},
};

constexpr ForeignGroup kAnyGpu[] = {
    {"gpu", "NVIDIA GPUs", "75 80 86 87 89 90 100 103 110 120 121"}};

constexpr ForeignRule kTensorRtRules[] = {
    {"unset trtllm_mha",
     "gpu",
     ForeignOutcome::kRight,
     "TRTLLM, the only one with sinks; on an RTX 5090 it once said that sinks need SM 9.0",
     "TensorRT-LLM:6892"},
    {"FLASHINFER eager",
     "gpu",
     ForeignOutcome::kFails,
     "has no sinks; it used to die deep in warm-up, later where it is made",
     "TensorRT-LLM:13156"},
};

constexpr ForeignGroup kLlamaGroups[] = {
    {"any", "CPU and GPUs", "cpu 75 80 86 87 89 90 100 103 110 120 121"}};

constexpr ForeignRule kLlamaRules[] = {
    {"unset FLASH_ATTN fa_on",
     "any",
     ForeignOutcome::kRight,
     "every kernel has sinks; where a GPU lacks one for the shape, the operation moves to the CPU"
     " without a word",
     "llama.cpp:26553"},
    {"fa_off", "any", ForeignOutcome::kWorks, "attention in separate operations, sinks included"},
};

constexpr ForeignRelease kOthers[] = {
    {.engine = "SGLang",
     .last = {999, 0, 0},
     .names = "",
     .given = "--attention-backend, --prefill-attention-backend and --decode-attention-backend.",
     .right_answer = "None: SGLang chooses by device and model.",
     .groups = kSglangGroups,
     .rules = kSglangRules},
    {.engine = "TensorRT-LLM",
     .last = {999, 0, 0},
     .names = "",
     .given = "attn_backend: TRTLLM, FLASHINFER or VANILLA.",
     .right_answer = "TRTLLM, which is the default.",
     .groups = kAnyGpu,
     .rules = kTensorRtRules},
    {.engine = "llama.cpp",
     .last = {999, 0, 0},
     .names = "",
     .given = "-fa on, off or auto; kernels have no names, they are chosen for each operation.",
     .right_answer = "auto, which is the default.",
     .groups = kLlamaGroups,
     .rules = kLlamaRules},
};

}  // namespace

std::span<const ForeignRelease> vllm_releases() {
  // What ran where has files of its own.
  static const std::vector<ForeignRelease> releases = [] {
    std::vector<ForeignRelease> all(std::begin(kVllm), std::end(kVllm));
    for (ForeignRelease& release : all) {
      if (release.names == kNames011) {
        release.groups = vllm_0_11_groups();
        release.rules = vllm_0_11_rules();
      } else if (release.names == kNamesNewest) {
        release.groups = vllm_newest_groups();
        release.rules = vllm_newest_rules();
      }
    }
    return all;
  }();
  return releases;
}

std::span<const ForeignRelease> other_releases() {
  return kOthers;
}

}  // namespace rapt
