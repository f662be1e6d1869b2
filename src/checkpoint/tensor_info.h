#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/block_type.h"
#include "tensor/dtype.h"

namespace rapt {

// One tensor as a checkpoint file describes it: a plain description beside a pointer into the
// file's mapping, which whoever opened the file keeps alive. The description has been checked
// against the file, so that `num_bytes` bytes at `data` may be read. `data` need not be aligned to
// the element size.
struct TensorInfo {
  std::string name;
  // Elements of one of three kinds: plain ones; blocks of a known type (`dtype` then is kU8);
  // or a type of GGUF that nobody told the reader about, whose size is not known: `data` is null.
  DType dtype = DType::kF32;
  const BlockType* block_type = nullptr;
  std::optional<std::uint32_t> unknown_gguf_type = {};
  std::vector<std::int64_t> dims;  // in elements, outermost first; each >= 0; of any rank
  const std::byte* data = nullptr;
  std::int64_t num_bytes = 0;

  std::int64_t num_elements() const;
  // "BF16", "Q8_0", "type 99 of GGUF"
  std::string type_name() const;
};

// "[2, 3]"
std::string dims_to_string(const std::vector<std::int64_t>& dims);

}  // namespace rapt
