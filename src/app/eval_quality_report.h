#pragma once

#include <string>
#include <vector>

#include "app/flags.h"
#include "base/json.h"
#include "engine/quality/evaluate.h"

namespace rapt {

// What `rapt eval-quality` found, and of what.
struct QualityReport {
  std::string model;          // where it lies
  std::string weight_format;  // of most of its weights
  std::string text;           // the file's name
  int num_tokens = 0;         // of the text that was used
  int context_length = 0;
  int stride = 0;
  int num_windows = 0;
  double seconds = 0.0;
  int num_threads = 0;
  EngineConfig reference;
  std::vector<EngineConfig> settings;
  QualityResult result;
};

// A table for people, to stdout.
void print_report(const QualityReport& report);

json::value to_json(const QualityReport& report);

// As --kv-cache-dtype spells it.
std::string kv_cache_dtype_name(DType dtype);

// 1.23e-04, or 0.
std::string in_powers(double value);

}  // namespace rapt
