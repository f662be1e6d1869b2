#include "attention/select/history_internal.h"

namespace rapt {

namespace {

// vLLM's; ascending by date. "about" releases were derived from the date of the change.
constexpr HistoryEvent kEvents[] = {
    {"TRITON_ATTN",
     "2025-08-07",
     "0.10.1",
     "vLLM's recipe for gpt-oss on A100 tells people to set TRITON_ATTN_VLLM_V1; it was dropped on "
     "20"
     " August, but lives on in blogs, images and manifests",
     "recipes:18"},
    {"FLASH_ATTN", "2025-08-06", "0.10.1", "gpt-oss runs on FlashAttention 3 on Hopper", ""},
    {"TRITON_ATTN",
     "2025-08-12",
     "0.10.1",
     "sinks in the Triton kernel, chosen by itself for gpt-oss on Ampere",
     "#22714"},
    {"*",
     "2025-09-16",
     "0.11.0",
     "VLLM_ATTENTION_BACKEND is checked, case-sensitively, before anything else",
     "#24761"},
    {"FLASH_ATTN TRITON_ATTN FLASHINFER TRITON_MLA FLASHMLA ROCM_AITER_MLA ROCM_ATTN TORCH_SDPA "
     "PALLAS"
     " XFORMERS",
     "2025-09-25",
     "0.11.0",
     "the suffix _VLLM_V1 is removed from all names; the friendly code that would strip it is never"
     " reached",
     "#25489"},
    {"*", "2025-10-02", "0.11.0", "0.11.0 is released", ""},
    {"ROCM_FLASH DUAL_CHUNK_FLASH_ATTN DIFFERENTIAL_FLASH_ATTN",
     "2025-10-02",
     "after 0.11",
     "gone with the V0 engine",
     ""},
    {"BLOCKSPARSE OPENVINO HPU_ATTN",
     "2025-10-02",
     "before 0.11",
     "gone with the V0 engine, or moved to plug-ins",
     ""},
    {"FLASH_ATTN",
     "2025-10-07",
     "0.11.1",
     "cascade attention had left the sinks out, and gets them",
     "#26325"},
    {"FLASHINFER", "2025-10-09", "0.11.1", "FP8 KV cache with sinks on SM 10.0", "#25674"},
    {"*",
     "2025-11-11",
     "0.11.1",
     "the selection is rewritten: a list of priorities, and a check of each backend",
     "#24794"},
    {"FLASH_ATTN FLASHINFER",
     "2025-11-14",
     "0.11.2",
     "the rewrite had lost the sink flag: gpt-oss was broken on SM 10.0 and Hopper",
     "#28561 #28660"},
    {"CPU_ATTN TORCH_SDPA",
     "2025-11-12",
     "0.11.1 to 0.12",
     "a new CPU kernel with sinks and windows, CPU_ATTN; TORCH_SDPA stays for vision towers only",
     "#27954"},
    {"XFORMERS", "2025-11-24", "0.12", "removed", "#29262"},
    {"*",
     "2025-12-05",
     "0.13",
     "--attention-backend and --attention-config; the variable is deprecated",
     "#26315"},
    {"TRITON_ATTN", "2025-12-12", "0.13", "split decode inside CUDA graphs", "#28306"},
    {"*",
     "2026-01-22",
     "about 0.15",
     "VLLM_ATTENTION_BACKEND is removed, and ignored without a word since",
     "#32812 #50292"},
    {"IPEX", "2026-02", "", "removed; Intel GPUs use FLASH_ATTN", "#33379"},
    {"fa4 FLASH_ATTN", "2026-03-01", "about 0.17", "FlashAttention 4 on Blackwell", "#32974"},
    {"auto", "2026-03-04", "about 0.17", "auto is accepted as a value", "#35738"},
    {"TREE_ATTN", "2026-05-08", "", "removed", "#42121"},
    {"ROCM_AITER_FA", "2026-05-30", "", "sinks", "#43817"},
    {"FLASHINFER",
     "2026-07-24",
     "",
     "decode with sinks on SM 12.x; prefill ignored them, silently, until 13 August",
     "#49718 #52148"},
    {"PALLAS", "2026", "", "moved to the TPU plug-in", ""},
};

}  // namespace

std::span<const HistoryEvent> history_events() {
  return kEvents;
}

}  // namespace rapt
