#include "app/input_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace rapt {

namespace {

// Far above any list of token ids that a model could take; /dev/zero has no end.
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Error cannot_read(const std::string& path, std::string_view what, int error_number) {
  return not_found(
      "cannot read " + std::string(what) + " '" + path + "': " + std::strerror(error_number)
  );
}

}  // namespace

Result<std::string> read_input_file(const std::string& path, std::string_view what) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return cannot_read(path, what, errno);
  }
  std::string text;
  std::array<char, 65536> buffer;
  std::size_t num_read = 0;
  while ((num_read = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    text.append(buffer.data(), num_read);
    if (text.size() > kMaxBytes) {
      return bad_file(
          std::string(what) + " '" + path + "' is longer than " + std::to_string(kMaxBytes >> 20) +
          " MiB"
      );
    }
  }
  if (std::ferror(file.get()) != 0) {
    return cannot_read(path, what, errno);
  }
  return text;
}

}  // namespace rapt
