#include "checkpoint/tensor_info.h"

#include "checkpoint/gguf_types_internal.h"

namespace rapt {

std::int64_t TensorInfo::num_elements() const {
  if (unknown_gguf_type) {
    std::int64_t count = 1;
    for (const std::int64_t size : dims) {
      count *= size;
    }
    return count;
  }
  return block_type != nullptr ? num_bytes / block_type->bytes * block_type->elements
                               : num_bytes / size_of(dtype);
}

std::string TensorInfo::type_name() const {
  if (unknown_gguf_type) {
    return gguf_type_name(*unknown_gguf_type);
  }
  return std::string(block_type != nullptr ? block_type->name : name_of(dtype));
}

std::string dims_to_string(const std::vector<std::int64_t>& dims) {
  std::string out = "[";
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    out += (dim == 0 ? "" : ", ") + std::to_string(dims[dim]);
  }
  return out + "]";
}

}  // namespace rapt
