#include "attention/backend_info.h"

namespace rapt {

namespace {

constexpr KVType kKVTypes[] = {KVType::kBF16, KVType::kFp8};
constexpr int kHeadDims[] = {64, 128};
constexpr int kBlockSizes[] = {16, 32, 64};  // 64: one bulk copy a block and KV head
constexpr SizeRule kGqaRatios = {.min = 1, .max = 16};
constexpr CapabilityRange kCapabilities[] = {{90, 90}};

constexpr KernelVariant make_variant(
    std::string_view name, std::string_view description, SlotSet slots, VariantCost cost
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
  };
}

constexpr KernelVariant kVariants[] = {
    make_variant(
        "wgmma",
        "wgmma tiles fed by TMA, softmax of one warp group behind the other's product",
        AttentionSlot::kPrefillFull,
        {.fixed_us = 6.0,
         .bandwidth_share = 0.8,
         .arithmetic = Arithmetic::kWideMma,
         .compute_share = 0.55,
         .splits_context = true}
    ),
    make_variant(
        "wgmma window",
        "a query tile's keys as one tile",
        AttentionSlot::kPrefillSliding,
        {.fixed_us = 5.0,
         .bandwidth_share = 0.75,
         .arithmetic = Arithmetic::kWideMma,
         .compute_share = 0.35,
         .splits_context = true}
    ),
    make_variant(
        "split-kv",
        "TMA-fed, packed query heads, the context split over blocks",
        AttentionSlot::kDecodeFull,
        {.fixed_us = 6.0,
         .bandwidth_share = 0.84,
         .arithmetic = Arithmetic::kMma,
         .compute_share = 0.2,
         .splits_context = true}
    ),
    make_variant(
        "window fused",
        "one block a sequence and KV head, with RoPE and the write of K and V",
        AttentionSlot::kDecodeSliding,
        {.fixed_us = 3.0,
         .bandwidth_share = 0.62,
         .arithmetic = Arithmetic::kMma,
         .compute_share = 0.2,
         .splits_context = false}
    ),
};

constexpr BackendInfo kInfo = {
    .name = "cuda-hopper",
    .description = "wgmma and TMA, for SM 9.0 only",
    .device = DeviceKind::kCuda,
    .variants = kVariants,
    .numerics_class = "cuda",
    .rank = 10,
};

}  // namespace

const BackendInfo& cuda_hopper_info() {
  return kInfo;
}

}  // namespace rapt
