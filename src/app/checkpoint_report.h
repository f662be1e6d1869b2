#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

// What the files of a checkpoint hold, for `rapt inspect`.
struct CheckpointReport {
  std::string container;  // "safetensors", "GGUF"
  int num_files = 0;
  std::vector<std::pair<std::string, int>> type_counts;  // tensors of each element type, most first
  // A GGUF file's metadata; values too long to read are described instead.
  std::vector<std::pair<std::string, json::value>> metadata;

  int num_tensors() const;
  // "459: 289 F32, 98 Q8_0, 72 MXFP4"
  std::string types_text() const;
};

// Reads the heads of the files at `path`.
Result<CheckpointReport> report_checkpoint(const std::string& path);

}  // namespace rapt
