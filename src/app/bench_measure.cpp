#include "app/bench_measure.h"

#include <algorithm>
#include <cstdio>

#include "base/cpu_info.h"

namespace rapt {

double median_of(std::vector<double> values) {
  if (values.empty()) {
    return 0.0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double least_of(const std::vector<double>& values) {
  return values.empty() ? 0.0 : *std::min_element(values.begin(), values.end());
}

void BenchTable::print() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string blanks(widths[column] - row[column].size(), ' ');
      line += column == 0 ? row[column] + blanks : "  " + blanks + row[column];
    }
    std::printf("%s\n", line.c_str());
  }
}

std::string rounded(double value, int num_digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", num_digits, value);
  return text;
}

json::array to_json(const std::vector<double>& values) {
  return json::array(values.begin(), values.end());
}

json::object describe_machine() {
  const CpuInfo cpu = detect_cpu();
  return {
      {"cpu", cpu.model_name},
      {"cores", cpu.num_usable_cores},
      {"memory_bytes", cpu.memory_bytes},
  };
}

}  // namespace rapt
