#include "checkpoint/tensor_info.h"

namespace rapt {

std::string dims_to_string(const std::vector<std::int64_t>& dims) {
  std::string out = "[";
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    out += (dim == 0 ? "" : ", ") + std::to_string(dims[dim]);
  }
  return out + "]";
}

}  // namespace rapt
