#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace rapt {

// One tensor as a checkpoint file describes it: a plain description beside a pointer into the
// file's mapping, which whoever opened the file keeps alive. The description has been checked
// against the file, so that `num_bytes` bytes at `data` may be read. `data` need not be aligned to
// the element size.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> dims;  // outermost first; each >= 0; may be of a higher rank than Shape
  const std::byte* data = nullptr;
  std::int64_t num_bytes = 0;

  std::int64_t num_elements() const { return num_bytes / size_of(dtype); }
};

// "[2, 3]"
std::string dims_to_string(const std::vector<std::int64_t>& dims);

}  // namespace rapt
