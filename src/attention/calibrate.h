#pragma once

#include <cstdint>

#include "attention/select/attention_model.h"
#include "attention/select/calibration.h"
#include "attention/select/device.h"
#include "tensor/stream.h"

namespace rapt {

// What the device reaches at most, measured by the caller (kernels/peaks.h).
struct DevicePeaks {
  double bandwidth_gbs = 0.0;
  double tflops = 0.0;  // fp32 multiply-adds
};

// How much trouble to take.
struct CalibrationEffort {
  double seconds = 0.1;  // each measurement takes so long at least; there are two a slot
  std::uint64_t min_bytes = std::uint64_t{64} << 20;  // of K and V in turn, so that they come from
                                                      // memory (attention/measure.h)
};

// `rapt attention bench`: times every variant of every backend of this binary that runs at the
// stream's level, in each of its slots, at the heads of `model` and with BF16. Main thread.
Calibration calibrate_attention(
    const Stream& stream,
    const AttentionModel& model,
    const DeviceFacts& device,
    const DevicePeaks& peaks,
    const CalibrationEffort& effort = {}
);

}  // namespace rapt
