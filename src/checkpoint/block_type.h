#pragma once

#include <cstdint>
#include <string_view>

namespace rapt {

// A quantised element type of GGUF files: `elements` consecutive elements of a row are packed into
// a block of `bytes` bytes. A plain value that lives as long as the program; each weight format
// defines its own (quant/<format>/format.h), and readers learn from it how large a tensor is.
struct BlockType {
  std::string_view name;      // "Q8_0"
  std::uint32_t gguf_id = 0;  // as GGUF files number it
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

}  // namespace rapt
