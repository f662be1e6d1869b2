#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "checkpoint/gguf_metadata.h"

namespace rapt {

static_assert(std::endian::native == std::endian::little, "GGUF files are read as they lie");

// Walks through the bytes of a GGUF file. Every step checks the end first and returns false, or
// nothing, when the file ends too early; a cursor that failed is where it was.
class GgufCursor {
 public:
  explicit GgufCursor(std::string_view bytes) : bytes_(bytes) {}

  std::size_t position() const { return position_; }

  std::size_t remaining() const { return bytes_.size() - position_; }

  template <typename T>
  bool read(T& value) {
    if (remaining() < sizeof(T)) {
      return false;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }

  bool read_bytes(std::uint64_t count, std::string_view& bytes) {
    if (remaining() < count) {
      return false;
    }
    bytes = bytes_.substr(position_, count);
    position_ += count;
    return true;
  }

  // Eight bytes of length, and as many bytes of text.
  bool read_string(std::string_view& text) {
    const std::size_t begin = position_;
    std::uint64_t length = 0;
    if (read(length) && read_bytes(length, text)) {
      return true;
    }
    position_ = begin;
    return false;
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

// Bytes of one value of a type with a fixed size; 0 for strings, arrays and unknown numbers.
constexpr std::size_t gguf_size_of(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  return 0;
}

constexpr bool is_gguf_type(std::uint32_t number) {
  return number <= static_cast<std::uint32_t>(GgufType::kF64);
}

// Arrays may hold arrays; no file known does, and none needs more.
inline constexpr int kMaxGgufNesting = 8;

// Reads one value of `type` at the cursor. On damage, says what is wrong with it: "ends in the
// middle of its value", "has a value of type 77, which GGUF does not define".
std::optional<std::string_view> read_gguf_value(
    GgufCursor& cursor, GgufType type, GgufValue& value, int depth = 0
);

}  // namespace rapt
