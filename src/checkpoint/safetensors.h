#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/tensor_info.h"

namespace rapt {

// Reads the format of the safetensors library, at least as strictly as that library does:
//
//   8 bytes   length of the header, little endian, at most 100,000,000
//   header    JSON: {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, ...},
//             optionally with "__metadata__": {"key": "text"}; may end in blanks
//   data      the tensors; offsets count from here. Every byte belongs to exactly one tensor.
//
// Parses `file` whole before anything is used, and accepts any bytes without crashing. The tensors
// come in the order of their data and point into `file`. `what` names the file in errors.
Result<std::vector<TensorInfo>> parse_safetensors(
    std::span<const std::byte> file, std::string_view what
);

// One mapped safetensors file. Move-only; the tensors stay valid for as long as it, or what it was
// moved to, lives.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::string& path);

  const std::string& path() const { return file_.path(); }

  const std::vector<TensorInfo>& tensors() const { return tensors_; }

  std::size_t file_size() const { return file_.bytes().size(); }

  void prefetch() const { file_.prefetch(); }

 private:
  SafetensorsFile(MappedFile file, std::vector<TensorInfo> tensors);

  MappedFile file_;
  std::vector<TensorInfo> tensors_;
};

}  // namespace rapt
