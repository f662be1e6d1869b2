#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "tensor/tensor.h"

namespace rapt {

// Owner of one block of memory, aligned to a huge page when it is large. The pages are touched when
// they are first used, not before. Move-only.
class Buffer {
 public:
  Buffer() = default;
  // An error, not an abort, when the machine does not have the memory: `what` names it.
  static Result<Buffer> allocate(std::uint64_t num_bytes, const char* what);

  void* data() const { return data_.get(); }

  std::uint64_t num_bytes() const { return num_bytes_; }

 private:
  struct Unmap {
    std::uint64_t num_bytes;
    void operator()(void* data) const;
  };

  std::unique_ptr<void, Unmap> data_;
  std::uint64_t num_bytes_ = 0;
};

// Scratch memory of one step: pieces are handed out in order and all taken back by reset(). Sized
// once at start; running out is a bug in the size, not a condition of the machine.
class Workspace {
 public:
  Workspace() = default;

  explicit Workspace(Buffer buffer) : buffer_(std::move(buffer)) {}

  static constexpr std::uint64_t kAlignment = 64;

  // Bytes that one piece of `num_bytes` takes.
  static constexpr std::uint64_t piece_bytes(std::uint64_t num_bytes) {
    return (num_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  template <typename T>
  T* take(std::int64_t count) {
    const std::uint64_t begin = used_;
    used_ += piece_bytes(static_cast<std::uint64_t>(count) * sizeof(T));
    CHECK(used_ <= buffer_.num_bytes(), "needs ", used_, " has ", buffer_.num_bytes());
    return reinterpret_cast<T*>(static_cast<char*>(buffer_.data()) + begin);
  }

  Tensor take_f32(Shape shape) {
    return Tensor(take<float>(shape.num_elements()), DType::kF32, shape);
  }

  void reset() { used_ = 0; }

  std::uint64_t num_bytes() const { return buffer_.num_bytes(); }

 private:
  Buffer buffer_;
  std::uint64_t used_ = 0;
};

}  // namespace rapt
