#pragma once

#include <string>
#include <vector>

#include "base/json.h"

// Small things that both parts of `rapt bench` need. Values only.

namespace rapt {

// The median (of an even number: the lower one) and the least of some figures; 0 of none.
double median_of(std::vector<double> values);
double least_of(const std::vector<double>& values);

// Prints rows as a table whose columns line up; numbers to the right.
class BenchTable {
 public:
  explicit BenchTable(std::vector<std::string> columns) : rows_{std::move(columns)} {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// `value` with `num_digits` behind the point.
std::string rounded(double value, int num_digits);

json::array to_json(const std::vector<double>& values);

// Processor, cores, memory of this machine.
json::object describe_machine();

}  // namespace rapt
