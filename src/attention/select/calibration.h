#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/slots.h"
#include "base/json.h"
#include "base/result.h"

namespace rapt {

// What `rapt attention bench` measured on this machine, kept as one JSON file: it replaces the
// registry's shares, so that plans rank by what is, not by what was hoped for. The caller reads and
// writes the file. Plain value.
struct Calibration {
  struct Entry {
    std::string backend;
    std::string variant;
    AttentionSlot slot = AttentionSlot::kPrefillFull;
    double fixed_us = 0.0;
    double bandwidth_share = 0.0;  // of `bandwidth_gbs`
    double compute_share = 0.0;    // of `peak_tflops`
  };

  std::string device;  // DeviceFacts::name and the CPU level: other devices do not use it
  std::string level;
  int num_workers = 0;
  double bandwidth_gbs = 0.0;  // measured
  double peak_tflops = 0.0;    // measured, for the arithmetic the device's kernels use
  std::vector<Entry> entries;

  // Null: not measured.
  const Entry* find(std::string_view backend, std::string_view variant, AttentionSlot slot) const;
};

// `what` names the text in errors, such as the file's path.
Result<Calibration> parse_calibration(std::string_view text, std::string_view what);
std::string calibration_text(const Calibration& calibration);

}  // namespace rapt
