#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rapt::testing {

// Numbers of the element types that tests use.
inline constexpr std::uint32_t kGgufF32 = 0;
inline constexpr std::uint32_t kGgufF16 = 1;
inline constexpr std::uint32_t kGgufQ8 = 8;
inline constexpr std::uint32_t kGgufBF16 = 30;
inline constexpr std::uint32_t kGgufMxfp4 = 39;

// A number's bytes, little endian.
template <typename T>
std::string gguf_number(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Eight bytes of length, then the text.
std::string gguf_string(std::string_view text);

// Writes GGUF files for tests, whole or, through add_value() and the public fields, damaged on
// purpose: nothing is checked.
class GgufWriter {
 public:
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;  // of the data; the key is written by the test if it wants it

  // `type` and `bytes` as the file has them.
  GgufWriter& add_value(std::string_view key, std::uint32_t type, std::string_view bytes);
  GgufWriter& add_u32(std::string_view key, std::uint32_t value);
  GgufWriter& add_f32(std::string_view key, float value);
  GgufWriter& add_bool(std::string_view key, bool value);
  GgufWriter& add_text(std::string_view key, std::string_view value);
  GgufWriter& add_texts(std::string_view key, const std::vector<std::string>& values);
  GgufWriter& add_i32s(std::string_view key, const std::vector<std::int32_t>& values);

  // `dims` outermost first.
  GgufWriter& add_tensor(
      std::string_view name,
      std::uint32_t type,
      const std::vector<std::int64_t>& dims,
      std::string_view data
  );

  std::string bytes() const;

 private:
  std::uint64_t num_values_ = 0;
  std::uint64_t num_tensors_ = 0;
  std::string values_;
  std::string tensors_;
  std::string data_;
};

}  // namespace rapt::testing
