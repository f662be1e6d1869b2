#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/mapped_file.h"
#include "checkpoint/tensor_info.h"

namespace rapt {

// One mapped file of weights, in whichever format, with what its header says it holds. Move-only;
// the tensors stay valid for as long as it, or what it was moved to, lives.
class WeightFile {
 public:
  // `tensors` point into `file`.
  WeightFile(MappedFile file, std::vector<TensorInfo> tensors);

  const std::string& path() const { return file_.path(); }

  const std::vector<TensorInfo>& tensors() const { return tensors_; }

  std::span<const std::byte> bytes() const { return file_.bytes(); }

  std::size_t file_size() const { return file_.bytes().size(); }

  void prefetch() const { file_.prefetch(); }

 private:
  MappedFile file_;
  std::vector<TensorInfo> tensors_;
};

}  // namespace rapt
