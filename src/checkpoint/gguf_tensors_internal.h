#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/block_type.h"
#include "checkpoint/gguf_bytes_internal.h"
#include "checkpoint/tensor_info.h"

namespace rapt {

// One entry of a GGUF file's list of tensors. `info.data` is not set yet.
struct GgufTensorEntry {
  TensorInfo info;
  std::uint64_t offset = 0;  // in the data
};

// Reads the list at the cursor, and checks each entry by itself.
Result<std::vector<GgufTensorEntry>> read_gguf_tensors(
    GgufCursor& cursor,
    std::uint64_t num_tensors,
    std::span<const BlockType> block_types,
    const std::string& what
);

// Checks that the tensors lie inside `data`, at multiples of `alignment`, and apart from each
// other; points them there.
Result<void> place_gguf_tensors(
    std::vector<GgufTensorEntry>& entries,
    std::string_view data,
    std::uint64_t alignment,
    const std::string& what
);

}  // namespace rapt
