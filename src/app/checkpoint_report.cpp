#include "app/checkpoint_report.h"

#include <algorithm>
#include <map>

#include "checkpoint/checkpoint_dir.h"
#include "quant/weight_format.h"

namespace rapt {

namespace {

constexpr std::uint64_t kMaxShownElements = 16;

json::value shown_value(const GgufValue& value) {
  if (value.num_elements > kMaxShownElements) {
    return json::value(value.kind());
  }
  json::value shown = to_json(value);
  // Nothing says that a file's texts are UTF-8, as JSON's have to be.
  if (!parse_json(to_json_text(shown), "a value")) {
    return json::value(value.kind() + " that is no UTF-8");
  }
  return shown;
}

}  // namespace

int CheckpointReport::num_tensors() const {
  int count = 0;
  for (const auto& [type, num_tensors] : type_counts) {
    count += num_tensors;
  }
  return count;
}

std::string CheckpointReport::types_text() const {
  std::string text = std::to_string(num_tensors()) + ":";
  for (std::size_t idx = 0; idx < type_counts.size(); ++idx) {
    text += (idx == 0 ? " " : ", ") + std::to_string(type_counts[idx].second) + " " +
            type_counts[idx].first;
  }
  return text;
}

Result<CheckpointReport> report_checkpoint(const std::string& path) {
  ASSIGN_OR_RETURN(const CheckpointDir checkpoint, CheckpointDir::open(path, known_block_types()));
  CheckpointReport report;
  report.container = checkpoint.gguf() != nullptr ? "GGUF" : "safetensors";
  report.num_files = static_cast<int>(checkpoint.files().size());
  std::map<std::string, int> counts;
  for (const WeightFile& file : checkpoint.files()) {
    for (const TensorInfo& info : file.tensors()) {
      ++counts[info.type_name()];
    }
  }
  report.type_counts.assign(counts.begin(), counts.end());
  std::stable_sort(
      report.type_counts.begin(),
      report.type_counts.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; }
  );
  if (checkpoint.gguf() != nullptr) {
    for (const auto& [key, value] : checkpoint.gguf()->entries()) {
      report.metadata.emplace_back(key, shown_value(value));
    }
  }
  return report;
}

}  // namespace rapt
