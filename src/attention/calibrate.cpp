#include "attention/calibrate.h"

#include <algorithm>
#include <memory>

#include "attention/measure.h"
#include "attention/registry.h"

namespace rapt {

namespace {

constexpr int kMaxPositions = 8192;
constexpr int kBlockSize = 32;
constexpr int kPrefillRows = 256;
constexpr int kDecodeSequences = 2;
constexpr int kDecodeContext = 2048;

// A call with nothing to do in it, and one that keeps the kernel busy.
struct SlotLoads {
  AttentionLoad least;
  AttentionLoad full;
};

SlotLoads loads_of(AttentionSlot slot, const AttentionModel& model) {
  const bool is_decode = phase_of(slot) == AttentionPhase::kDecode;
  AttentionLoad load;
  load.model = model;
  load.window = layer_kind_of(slot) == AttentionLayerKind::kSliding ? model.window : 0;
  load.block_size = kBlockSize;
  SlotLoads loads{.least = load, .full = load};
  loads.least.num_rows = is_decode ? 1 : 2;
  loads.full.num_sequences = is_decode ? kDecodeSequences : 1;
  loads.full.num_before = is_decode ? kDecodeContext - 1 : 0;
  loads.full.num_rows = is_decode ? 1 : kPrefillRows;
  return loads;
}

// As the cost model counts them (attention/select/cost.cpp): K and V once or once a query head, the
// rows' queries and outputs in fp32.
double bytes_of(const AttentionLoad& load, const VariantCost& cost) {
  const double reads = cost.packs_heads ? 1.0 : std::max(load.model.gqa_ratio(), 1);
  const double rows = static_cast<double>(load.num_sequences) * load.num_rows;
  return load.kv_bytes() * reads +
         rows * 2.0 * load.model.num_heads * load.model.head_dim * sizeof(float);
}

Calibration::Entry measure_slot(
    const Stream& stream,
    const BackendInfo& info,
    const KernelVariant& variant,
    AttentionSlot slot,
    const AttentionModel& model,
    const DevicePeaks& peaks,
    const CalibrationEffort& effort
) {
  const SlotLoads loads = loads_of(slot, model);
  const std::unique_ptr<AttentionBackend> backend =
      info.make({.num_threads = stream.pool->num_threads(), .max_positions = kMaxPositions});
  AttentionMeter least(stream, loads.least, 0);
  const double fixed_us = 1e6 * least.seconds_per_call(stream, *backend, effort.seconds);
  const bool is_decode = phase_of(slot) == AttentionPhase::kDecode;
  // Prompts are bound by arithmetic: one copy will do, which slow kernels need.
  AttentionMeter full(stream, loads.full, is_decode ? effort.min_bytes : 0);
  const double call_us = 1e6 * full.seconds_per_call(stream, *backend, effort.seconds);
  const double work_us = std::max(call_us - fixed_us, call_us / 2);
  Calibration::Entry entry;
  entry.backend = info.name;
  entry.variant = variant.name;
  entry.slot = slot;
  entry.fixed_us = fixed_us;
  entry.compute_share = loads.full.flops() / (work_us * 1e6 * peaks.tflops);
  // Decode has the same arithmetic a byte whatever the context, so one figure gives both shares;
  // of a prompt it says nothing about memory.
  entry.bandwidth_share =
      is_decode ? bytes_of(loads.full, variant.cost) / (work_us * 1e3 * peaks.bandwidth_gbs)
                : variant.cost.bandwidth_share;
  return entry;
}

}  // namespace

Calibration calibrate_attention(
    const Stream& stream,
    const AttentionModel& model,
    const DeviceFacts& device,
    const DevicePeaks& peaks,
    const CalibrationEffort& effort
) {
  Calibration calibration;
  calibration.device = device.name;
  calibration.level = name_of(device.cpu_level);
  calibration.num_workers = device.num_workers;
  calibration.bandwidth_gbs = peaks.bandwidth_gbs;
  calibration.peak_tflops = peaks.tflops;
  for (const BackendInfo* info : attention_backends()) {
    if (info->make == nullptr || info->device != DeviceKind::kCpu) {
      continue;
    }
    for (const KernelVariant& variant : info->variants) {
      const bool fits = stream.level >= variant.min_cpu_level &&
                        variant.head_dims.allows(model.head_dim) &&
                        variant.gqa_ratios.allows(model.gqa_ratio());
      for (const AttentionSlot slot : kAttentionSlots) {
        if (fits && variant.slots.contains(slot) && model.num_layers(layer_kind_of(slot)) > 0) {
          calibration.entries.push_back(
              measure_slot(stream, *info, variant, slot, model, peaks, effort)
          );
        }
      }
    }
  }
  return calibration;
}

}  // namespace rapt
