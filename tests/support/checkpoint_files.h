#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rapt::testing {

// Files for tests, whole or damaged on purpose. Used by tests only.

struct WrittenTensor {
  std::string name;
  std::string dtype;  // as the header spells it
  std::vector<std::int64_t> dims;
  std::string data;
};

// The 8 length bytes, the header and the data: nothing is checked.
std::string safetensors_bytes(std::string_view header, std::string_view data);

// A correct file with these tensors, one behind the other.
std::string safetensors_bytes(const std::vector<WrittenTensor>& tensors);

void write_file(const std::string& path, std::string_view bytes);

// A new folder, removed with all it holds at the end of the test.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

  // Writes a file, and the folders of its name, below this one; returns its path.
  std::string write(const std::string& name, std::string_view bytes) const;
  std::string make_folder(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace rapt::testing
