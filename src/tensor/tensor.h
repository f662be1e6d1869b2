#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/check.h"
#include "tensor/dtype.h"

namespace rapt {

// Sizes of up to four dimensions, outermost first.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;

  Shape(std::initializer_list<std::int64_t> sizes) {
    CHECK(sizes.size() <= kMaxRank, "rank=", sizes.size());
    for (const std::int64_t size : sizes) {
      sizes_[static_cast<std::size_t>(rank_++)] = size;
    }
  }

  int rank() const { return rank_; }

  std::int64_t operator[](int dim) const {
    DCHECK(dim >= 0 && dim < rank_, "dim=", dim, " of ", to_string());
    return sizes_[static_cast<std::size_t>(dim)];
  }

  std::int64_t num_elements() const {
    std::int64_t count = 1;
    for (int dim = 0; dim < rank_; ++dim) {
      count *= sizes_[static_cast<std::size_t>(dim)];
    }
    return count;
  }

  bool operator==(const Shape& other) const {
    return rank_ == other.rank_ && sizes_ == other.sizes_;
  }

  std::string to_string() const {
    std::string out = "[";
    for (int dim = 0; dim < rank_; ++dim) {
      out += (dim == 0 ? "" : ", ") + std::to_string(sizes_[static_cast<std::size_t>(dim)]);
    }
    return out + "]";
  }

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

// A view of contiguous, row-major elements. Never owns; whoever made it keeps the memory alive.
class Tensor {
 public:
  Tensor() = default;

  Tensor(void* data, DType dtype, Shape shape) : data_(data), dtype_(dtype), shape_(shape) {}

  // A view of memory that must not be written, such as mapped weights.
  static Tensor read_only(const void* data, DType dtype, Shape shape) {
    return Tensor(const_cast<void*>(data), dtype, shape);
  }

  bool empty() const { return data_ == nullptr; }

  DType dtype() const { return dtype_; }

  const Shape& shape() const { return shape_; }

  std::int64_t size(int dim) const { return shape_[dim]; }

  std::int64_t num_elements() const { return shape_.num_elements(); }

  std::int64_t num_bytes() const { return num_elements() * size_of(dtype_); }

  void* raw() const { return data_; }

  float* f32() const {
    DCHECK(dtype_ == DType::kF32, "dtype=", name_of(dtype_));
    return static_cast<float*>(data_);
  }

  // Rows [begin, begin + count) of the outermost dimension.
  Tensor rows(std::int64_t begin, std::int64_t count) const {
    DCHECK(shape_.rank() >= 1 && begin >= 0 && begin + count <= shape_[0]);
    const std::int64_t row_bytes = shape_[0] == 0 ? 0 : num_bytes() / shape_[0];
    Shape shape = shape_;
    switch (shape_.rank()) {
      case 1:
        shape = Shape{count};
        break;
      case 2:
        shape = Shape{count, shape_[1]};
        break;
      case 3:
        shape = Shape{count, shape_[1], shape_[2]};
        break;
      default:
        shape = Shape{count, shape_[1], shape_[2], shape_[3]};
    }
    return Tensor(static_cast<char*>(data_) + begin * row_bytes, dtype_, shape);
  }

 private:
  void* data_ = nullptr;
  DType dtype_ = DType::kF32;
  Shape shape_;
};

}  // namespace rapt
