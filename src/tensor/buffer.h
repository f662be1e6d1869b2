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

// Scratch memory of one step: pieces are handed out in order and given back in the opposite order
// by rewind(). Sized once at start by a measuring run of the same calls; running out is a bug in
// that, not a condition of the machine. Engine thread only.
class Workspace {
 public:
  explicit Workspace(Buffer buffer) : buffer_(std::move(buffer)) {}

  // Hands out null pointers and only counts: see peak_bytes().
  static Workspace measuring() { return Workspace(); }

  template <typename T>
  T* take(std::int64_t count) {
    const std::uint64_t begin = used_;
    const std::uint64_t num_bytes = static_cast<std::uint64_t>(count) * sizeof(T);
    used_ += (num_bytes + kAlignment - 1) / kAlignment * kAlignment;
    peak_ = used_ > peak_ ? used_ : peak_;
    if (buffer_.data() == nullptr) {
      return nullptr;
    }
    CHECK(used_ <= buffer_.num_bytes(), "needs ", used_, " has ", buffer_.num_bytes());
    return reinterpret_cast<T*>(static_cast<char*>(buffer_.data()) + begin);
  }

  Tensor take_f32(Shape shape) {
    return Tensor(take<float>(shape.num_elements()), DType::kF32, shape);
  }

  // What take() has handed out so far; rewind() takes back all that came after.
  std::uint64_t mark() const { return used_; }

  void rewind(std::uint64_t mark) { used_ = mark; }

  // The most that was handed out at any time.
  std::uint64_t peak_bytes() const { return peak_; }

  static constexpr std::uint64_t kAlignment = 64;

 private:
  Workspace() = default;

  Buffer buffer_;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace rapt
