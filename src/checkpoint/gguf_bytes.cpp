#include "checkpoint/gguf_bytes_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kCutShort = "ends past the end of the file";

// Steps over the elements of an array, of which each has its own length.
std::optional<std::string_view> skip_elements(
    GgufCursor& cursor, GgufType type, std::uint64_t count, int depth
) {
  if (type == GgufType::kString) {
    std::string_view text;
    for (std::uint64_t idx = 0; idx < count; ++idx) {
      if (!cursor.read_string(text)) {
        return kCutShort;
      }
    }
    return std::nullopt;
  }
  GgufValue element;
  for (std::uint64_t idx = 0; idx < count; ++idx) {
    if (const auto problem = read_gguf_value(cursor, type, element, depth + 1)) {
      return problem;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> read_array(GgufCursor& cursor, GgufValue& value, int depth) {
  std::uint32_t type = 0;
  if (!cursor.read(type) || !cursor.read(value.num_elements)) {
    return kCutShort;
  }
  if (!is_gguf_type(type)) {
    return "is an array of a type that GGUF does not define";
  }
  if (depth >= kMaxGgufNesting) {
    return "nests arrays too deeply";
  }
  value.element_type = static_cast<GgufType>(type);
  const std::size_t element_size = gguf_size_of(value.element_type);
  if (element_size > 0) {
    if (value.num_elements > cursor.remaining() / element_size ||
        !cursor.read_bytes(value.num_elements * element_size, value.bytes)) {
      return kCutShort;
    }
    return std::nullopt;
  }
  const GgufCursor begin = cursor;
  if (const auto problem = skip_elements(cursor, value.element_type, value.num_elements, depth)) {
    return problem;
  }
  GgufCursor all = begin;
  all.read_bytes(cursor.position() - begin.position(), value.bytes);
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> read_gguf_value(
    GgufCursor& cursor, GgufType type, GgufValue& value, int depth
) {
  value = GgufValue{.type = type, .bytes = {}};
  if (type == GgufType::kArray) {
    return read_array(cursor, value, depth);
  }
  const bool is_whole = type == GgufType::kString
                            ? cursor.read_string(value.bytes)
                            : cursor.read_bytes(gguf_size_of(type), value.bytes);
  if (!is_whole) {
    return kCutShort;
  }
  if (type == GgufType::kBool && static_cast<unsigned char>(value.bytes.front()) > 1) {
    return "is a truth value that is neither 0 nor 1";
  }
  return std::nullopt;
}

}  // namespace rapt
