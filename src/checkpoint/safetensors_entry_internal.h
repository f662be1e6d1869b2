#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/tensor_info.h"

namespace rapt {

// Where a tensor's bytes lie, as its header entry says, before the entries are held against each
// other and against the file. `info.data` is still missing.
struct TensorExtent {
  TensorInfo info;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Reads one entry of a safetensors header and checks what can be told from it alone: the element
// type, and that the shape and the offsets agree. `tensor` names it in errors.
Result<TensorExtent> parse_safetensors_entry(
    std::string_view name, const json::value& value, const std::string& tensor
);

}  // namespace rapt
