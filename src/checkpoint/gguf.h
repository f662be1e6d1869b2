#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/block_type.h"
#include "checkpoint/gguf_metadata.h"
#include "checkpoint/tensor_info.h"

namespace rapt {

// What one GGUF file says. The values and the tensors point into its bytes.
struct GgufContents {
  std::uint32_t version = 0;
  GgufMetadata metadata;
  std::vector<TensorInfo> tensors;  // in the order of the file's list
};

// Reads llama.cpp's format, of versions 2 and 3, little endian:
//
//   header   "GGUF", version (4 bytes), number of tensors (8), number of metadata values (8)
//   metadata key, type (4), value; a string is its length (8) and its bytes, an array its element
//            type (4), its length (8) and its elements
//   tensors  name, number of dimensions (4), dimensions (8 each, innermost first), type (4),
//            offset (8)
//   data     from the next multiple of "general.alignment" (32 if absent) on; offsets count from
//            there and are multiples of it too
//
// Accepts any bytes without crashing, and checks everything before anything is used. A tensor whose
// type is neither plain nor one of `block_types` (which must outlive the contents) is listed
// without data. `what` names the file in errors.
Result<GgufContents> parse_gguf(
    std::span<const std::byte> file, std::string_view what, std::span<const BlockType> block_types
);

}  // namespace rapt
