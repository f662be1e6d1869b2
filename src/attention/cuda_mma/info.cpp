#include "attention/backend_info.h"

namespace rapt {

namespace {

constexpr KVType kKVTypes[] = {KVType::kBF16, KVType::kFp8};
constexpr int kHeadDims[] = {64, 128};
constexpr int kBlockSizes[] = {16, 32, 64};
constexpr SizeRule kGqaRatios = {.min = 1, .max = 16};
// Machine code is made for 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0; it runs on later minors of each
// major.
constexpr CapabilityRange kCapabilities[] = {{80, 90}, {100, 103}, {120, 121}};

constexpr KernelVariant make_variant(
    std::string_view name, std::string_view description, SlotSet slots, VariantCost cost, int rank
) {
  return KernelVariant{
      .name = name,
      .description = description,
      .slots = slots,
      .compute_capabilities = kCapabilities,
      .has_sinks = true,
      .has_window = true,
      .has_soft_cap = true,
      .head_dims = {.only = kHeadDims},
      .gqa_ratios = kGqaRatios,
      .kv_types = kKVTypes,
      .block_sizes = {.only = kBlockSizes},
      .best_block_size = 64,
      .max_query_rows = 8,
      .graph_level = GraphLevel::kAlways,
      .batch_invariance = BatchInvariance::kInDeterministicMode,
      .cost = cost,
      .rank = rank,
  };
}

constexpr KernelVariant kVariants[] = {
    make_variant(
        "mma",
        "mma.sync tiles behind a ring of asynchronous copies",
        AttentionSlot::kPrefillFull,
        {.fixed_us = 6.0,
         .bandwidth_share = 0.75,
         .arithmetic = Arithmetic::kMma,
         .compute_share = 0.55,
         .splits_context = true},
        0
    ),
    make_variant(
        "mma window",
        "a query tile's keys as one tile",
        AttentionSlot::kPrefillSliding,
        {.fixed_us = 5.0,
         .bandwidth_share = 0.7,
         .arithmetic = Arithmetic::kMma,
         .compute_share = 0.4,
         .splits_context = true},
        0
    ),
    make_variant(
        "split-kv",
        "packed query heads, the context split over blocks, the last one to arrive merges",
        AttentionSlot::kDecodeFull,
        {.fixed_us = 6.0,
         .bandwidth_share = 0.8,
         .arithmetic = Arithmetic::kMma,
         .compute_share = 0.2,
         .splits_context = true},
        0
    ),
    make_variant(
        "unsplit",
        "packed query heads, one block a sequence and KV head",
        AttentionSlot::kDecodeFull,
        {.fixed_us = 4.0,
         .bandwidth_share = 0.82,
         .arithmetic = Arithmetic::kMma,
         .compute_share = 0.2,
         .splits_context = false},
        1
    ),
    make_variant(
        "window fused",
        "one block a sequence and KV head, with RoPE and the write of K and V",
        AttentionSlot::kDecodeSliding,
        {.fixed_us = 3.0,
         .bandwidth_share = 0.6,
         .arithmetic = Arithmetic::kMma,
         .compute_share = 0.2,
         .splits_context = false},
        0
    ),
};

constexpr BackendInfo kInfo = {
    .name = "cuda-mma",
    .description = "tensor cores by mma.sync: every GPU from Ampere on, sinks included",
    .device = DeviceKind::kCuda,
    .variants = kVariants,
    .numerics_class = "cuda",
    .rank = 20,
};

}  // namespace

const BackendInfo& cuda_mma_info() {
  return kInfo;
}

}  // namespace rapt
