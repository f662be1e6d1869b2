#include <algorithm>
#include <array>

#include "attention/select/check_internal.h"
#include "attention/select/cost_internal.h"

namespace rapt {

namespace {

constexpr std::array<CostBucket, 5> kPrefillBuckets = {
    {{1, 128, 0}, {1, 512, 0}, {1, 2048, 0}, {1, 8192, 0}, {1, 32768, 0}}};

constexpr std::array<CostBucket, 16> kDecodeBuckets = {{
    {1, 1, 1024},
    {1, 1, 8192},
    {1, 1, 32768},
    {1, 1, 131072},
    {8, 1, 1024},
    {8, 1, 8192},
    {8, 1, 32768},
    {8, 1, 131072},
    {32, 1, 1024},
    {32, 1, 8192},
    {32, 1, 32768},
    {32, 1, 131072},
    {128, 1, 1024},
    {128, 1, 8192},
    {128, 1, 32768},
    {128, 1, 131072},
}};

// A call that does nothing: keeps tiny buckets from deciding by their fixed part alone.
constexpr double kIdealCallUs = 5.0;

// This part of a device's workers is enough to use all of its bandwidth.
constexpr double kWorkersForBandwidth = 0.5;

// The sum over new tokens of the keys each sees.
double visible_keys(const CostBucket& bucket, int window) {
  const auto seen_before = [window](double position) {  // by positions 0 ... position - 1
    const double ramp = window > 0 ? std::min(position, static_cast<double>(window)) : position;
    return ramp * (ramp + 1) / 2 + (position - ramp) * window;
  };
  const auto context = static_cast<double>(bucket.context);
  return seen_before(context + static_cast<double>(bucket.num_tokens)) - seen_before(context);
}

}  // namespace

std::span<const CostBucket> cost_buckets(AttentionPhase phase) {
  if (phase == AttentionPhase::kPrefill) {
    return kPrefillBuckets;
  }
  return kDecodeBuckets;
}

CostModel::CostModel(const SelectRequest& request)
    : request_(request), bandwidth_gbs_(request.device.bandwidth_gbs) {
  const Calibration* calibration = request.calibration;
  const DeviceFacts& device = request.device;
  const bool fits = calibration != nullptr && !device.is_simulated &&
                    calibration->device == device.name &&
                    calibration->level == (device.kind == DeviceKind::kCpu
                                               ? std::string(name_of(device.cpu_level))
                                               : sm_name(device.compute_capability)) &&
                    calibration->num_workers == device.num_workers;
  if (fits) {
    calibration_ = calibration;
    bandwidth_gbs_ = calibration->bandwidth_gbs;
    calibrated_tflops_ = calibration->peak_tflops;
  }
}

CostModel::Work CostModel::work_of(AttentionSlot slot, const CostBucket& bucket) const {
  const AttentionModel& model = request_.model;
  const AttentionLayerKind kind = layer_kind_of(slot);
  const int window = kind == AttentionLayerKind::kSliding ? model.window : 0;
  const auto num_sequences = static_cast<double>(bucket.num_sequences);
  const auto num_tokens = static_cast<double>(bucket.num_tokens);
  double stored = static_cast<double>(bucket.context) + num_tokens;
  if (window > 0) {
    stored = std::min(stored, num_tokens + window - 1);
  }
  const double kv_width = 2.0 * model.num_kv_heads * model.head_dim;
  const double row_width = static_cast<double>(model.num_heads) * model.head_dim;
  const double activation_size = request_.device.kind == DeviceKind::kCpu ? 4.0 : 2.0;
  return Work{
      .flops = 4.0 * row_width * num_sequences * visible_keys(bucket, window),
      .kv_bytes = num_sequences * stored * kv_width * size_of(kv_type_of(request_.run, slot)),
      .row_bytes = num_sequences * num_tokens * 2.0 * row_width * activation_size,
      .num_layers = static_cast<double>(model.num_layers(kind)),
  };
}

double CostModel::time_us(
    const BackendInfo& backend,
    const KernelVariant& variant,
    AttentionSlot slot,
    const CostBucket& bucket
) const {
  const DeviceFacts& device = request_.device;
  const Work work = work_of(slot, bucket);
  VariantCost cost = variant.cost;
  double peak_tflops = device.peak_tflops(cost.arithmetic);
  const Calibration::Entry* entry =
      calibration_ != nullptr ? calibration_->find(backend.name, variant.name, slot) : nullptr;
  if (entry != nullptr) {
    cost.fixed_us = entry->fixed_us;
    cost.bandwidth_share = entry->bandwidth_share;
    cost.compute_share = entry->compute_share;
    peak_tflops = calibrated_tflops_;
  }
  const auto num_workers = static_cast<double>(device.num_workers);
  const bool is_split = phase_of(slot) == AttentionPhase::kPrefill || cost.splits_context;
  const double num_busy =
      is_split
          ? num_workers
          : std::min(
                num_workers,
                static_cast<double>(bucket.num_sequences) * std::max(request_.model.num_kv_heads, 1)
            );
  const double busy_share = num_busy / num_workers;
  const double reads = cost.packs_heads ? 1.0 : std::max(request_.model.gqa_ratio(), 1);
  const double bytes_us =
      (work.kv_bytes * reads + work.row_bytes) / (bandwidth_gbs_ * 1e3 * cost.bandwidth_share *
                                                  std::min(1.0, busy_share / kWorkersForBandwidth));
  const double flops_us = work.flops / (peak_tflops * 1e6 * cost.compute_share * busy_share);
  return work.num_layers * (cost.fixed_us + std::max(bytes_us, flops_us));
}

double CostModel::ideal_us(AttentionSlot slot, const CostBucket& bucket) const {
  const DeviceFacts& device = request_.device;
  const Work work = work_of(slot, bucket);
  const double peak = std::max({device.vector_tflops, device.mma_tflops, device.wide_mma_tflops});
  const double bytes_us = (work.kv_bytes + work.row_bytes) / (bandwidth_gbs_ * 1e3);
  return work.num_layers * (kIdealCallUs + std::max(bytes_us, work.flops / (peak * 1e6)));
}

double CostModel::slot_cost(
    const BackendInfo& backend, const KernelVariant& variant, AttentionSlot slot
) const {
  double sum = 0.0;
  const std::span<const CostBucket> buckets = cost_buckets(phase_of(slot));
  for (const CostBucket& bucket : buckets) {
    sum += time_us(backend, variant, slot, bucket) / ideal_us(slot, bucket);
  }
  return sum / static_cast<double>(buckets.size());
}

double CostModel::batch_cost(
    const BackendInfo& backend,
    const KernelVariant& variant,
    AttentionSlot slot,
    std::int64_t num_sequences
) const {
  double sum = 0.0;
  for (CostBucket bucket : cost_buckets(AttentionPhase::kDecode)) {
    bucket.num_sequences = num_sequences;
    sum += time_us(backend, variant, slot, bucket) / ideal_us(slot, bucket);
  }
  return sum;
}

bool CostModel::is_measured(const BackendInfo& backend) const {
  if (calibration_ == nullptr) {
    return false;
  }
  for (const Calibration::Entry& entry : calibration_->entries) {
    if (entry.backend == backend.name) {
      return true;
    }
  }
  return false;
}

}  // namespace rapt
