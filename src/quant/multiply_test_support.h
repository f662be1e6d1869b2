#pragma once

// What the tests of weight formats share.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "quant/weight_format.h"
#include "support/checkpoint_files.h"

namespace rapt::testing {

// Writes a one-file checkpoint and opens it.
class CheckpointWriter {
 public:
  void add(
      const std::string& name,
      const std::string& dtype,
      const std::vector<std::int64_t>& dims,
      const void* data,
      std::size_t num_bytes
  ) {
    tensors_.push_back({name, dtype, dims, std::string(static_cast<const char*>(data), num_bytes)});
  }

  WeightLoader open() {
    folder_.write("model.safetensors", safetensors_bytes(tensors_));
    return WeightLoader(*CheckpointDir::open(folder_.path()));
  }

 private:
  TempFolder folder_;
  std::vector<WrittenTensor> tensors_;
};

inline std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = normal(generator);
  }
  return values;
}

// The groups of a test: experts in order with uneven numbers of rows, one of them empty.
inline std::vector<RowGroup> make_groups(std::int64_t num_matrices, std::int64_t num_rows) {
  std::vector<RowGroup> groups;
  std::int32_t first = 0;
  for (std::int64_t matrix = 0; matrix < num_matrices; ++matrix) {
    const bool last = matrix + 1 == num_matrices;
    const auto left = static_cast<std::int32_t>(num_rows - first);
    const std::int32_t count = last ? left : (matrix == 1 ? 0 : left / 3);
    groups.push_back({static_cast<std::int32_t>(matrix), first, count});
    first += count;
  }
  return groups;
}

inline std::vector<float> multiply(
    const LinearMethod& linear,
    CpuLevel level,
    int num_threads,
    std::vector<float>& x,
    const std::vector<std::int32_t>& input_rows,
    std::int64_t num_rows
) {
  ThreadPool pool(num_threads);
  const auto num_inputs = static_cast<std::int64_t>(x.size()) / linear.in_features();
  std::vector<float> y(static_cast<std::size_t>(num_rows * linear.out_features()), -1.0F);
  linear.multiply(
      Stream{&pool, level},
      PackedInput{Tensor(x.data(), DType::kF32, Shape{num_inputs, linear.in_features()})},
      input_rows,
      make_groups(linear.num_matrices(), num_rows),
      Tensor(y.data(), DType::kF32, Shape{num_rows, linear.out_features()})
  );
  return y;
}

inline void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

// Runs `linear` in every way and compares bits; returns the reference result.
inline std::vector<float> expect_all_equal(const LinearMethod& linear) {
  std::vector<float> first_reference;
  for (const std::int64_t num_rows : {1, 2, 7, 70}) {
    const std::int64_t num_inputs = num_rows / 2 + 1;
    auto x = random_values(num_inputs * linear.in_features(), 11);
    std::vector<std::int32_t> input_rows;
    for (std::int64_t row = 0; row < num_rows; ++row) {
      input_rows.push_back(static_cast<std::int32_t>(row * 5 % num_inputs));
    }
    const auto expected = multiply(linear, CpuLevel::kReference, 1, x, input_rows, num_rows);
    for (const CpuLevel level : runnable_cpu_levels()) {
      for (const int num_threads : {1, 3}) {
        SCOPED_TRACE(std::string(name_of(level)));
        expect_same_bits(expected, multiply(linear, level, num_threads, x, input_rows, num_rows));
      }
    }
    if (first_reference.empty()) {
      first_reference = expected;
    }
  }
  return first_reference;
}

}  // namespace rapt::testing
