#include "support/gguf_files.h"

namespace rapt::testing {

std::string gguf_string(std::string_view text) {
  return gguf_number(std::uint64_t{text.size()}) + std::string(text);
}

GgufWriter& GgufWriter::add_value(
    std::string_view key, std::uint32_t type, std::string_view bytes
) {
  values_ += gguf_string(key) + gguf_number(type) + std::string(bytes);
  ++num_values_;
  return *this;
}

GgufWriter& GgufWriter::add_u32(std::string_view key, std::uint32_t value) {
  return add_value(key, 4, gguf_number(value));
}

GgufWriter& GgufWriter::add_f32(std::string_view key, float value) {
  return add_value(key, 6, gguf_number(value));
}

GgufWriter& GgufWriter::add_bool(std::string_view key, bool value) {
  return add_value(key, 7, value ? std::string(1, '\1') : std::string(1, '\0'));
}

GgufWriter& GgufWriter::add_text(std::string_view key, std::string_view value) {
  return add_value(key, 8, gguf_string(value));
}

GgufWriter& GgufWriter::add_texts(std::string_view key, const std::vector<std::string>& values) {
  std::string bytes = gguf_number(std::uint32_t{8}) + gguf_number(std::uint64_t{values.size()});
  for (const std::string& value : values) {
    bytes += gguf_string(value);
  }
  return add_value(key, 9, bytes);
}

GgufWriter& GgufWriter::add_i32s(std::string_view key, const std::vector<std::int32_t>& values) {
  std::string bytes = gguf_number(std::uint32_t{5}) + gguf_number(std::uint64_t{values.size()});
  for (const std::int32_t value : values) {
    bytes += gguf_number(value);
  }
  return add_value(key, 9, bytes);
}

GgufWriter& GgufWriter::add_tensor(
    std::string_view name,
    std::uint32_t type,
    const std::vector<std::int64_t>& dims,
    std::string_view data
) {
  data_.resize((data_.size() + alignment - 1) / alignment * alignment);
  tensors_ += gguf_string(name) + gguf_number(static_cast<std::uint32_t>(dims.size()));
  for (std::size_t dim = dims.size(); dim > 0; --dim) {
    tensors_ += gguf_number(dims[dim - 1]);
  }
  tensors_ += gguf_number(type) + gguf_number(std::uint64_t{data_.size()});
  data_ += data;
  ++num_tensors_;
  return *this;
}

std::string GgufWriter::bytes() const {
  std::string out = "GGUF" + gguf_number(version) + gguf_number(num_tensors_) +
                    gguf_number(num_values_) + values_ + tensors_;
  if (!data_.empty()) {
    out.resize((out.size() + alignment - 1) / alignment * alignment);
  }
  return out + data_;
}

}  // namespace rapt::testing
