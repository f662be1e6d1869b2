#include "app/json_lines.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace rapt {

namespace {

// Tool schemas nest; this is what the reference library for Harmony allows.
constexpr int kMaxDepth = 128;

// The buffer that getline() keeps and grows.
struct LineBuffer {
  char* data = nullptr;
  std::size_t capacity = 0;

  LineBuffer() = default;
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

  ~LineBuffer() { std::free(data); }
};

json::value answer_line(std::string_view line, const JsonLineAnswer& answer) {
  Result<json::value> value = parse_json(line, "the line", kMaxDepth);
  if (value) {
    value = answer(*value);
  }
  if (value) {
    return *std::move(value);
  }
  return json::object{{"error", value.error().message}};
}

}  // namespace

Result<void> answer_json_lines(std::FILE* in, std::FILE* out, const JsonLineAnswer& answer) {
  LineBuffer buffer;
  std::string text;
  while (true) {
    const ssize_t num_read = getline(&buffer.data, &buffer.capacity, in);
    if (num_read < 0) {
      break;
    }
    std::string_view line(buffer.data, static_cast<std::size_t>(num_read));
    if (line.ends_with('\n')) {
      line.remove_suffix(1);
    }
    text.clear();
    append_json_text(text, answer_line(line, answer));
    text += '\n';
    if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
      return internal_error(std::string("cannot write an answer: ") + std::strerror(errno));
    }
  }
  if (std::ferror(in) != 0) {
    return internal_error(std::string("cannot read the next line: ") + std::strerror(errno));
  }
  return {};
}

}  // namespace rapt
