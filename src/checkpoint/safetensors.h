#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/tensor_info.h"
#include "checkpoint/weight_file.h"

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

// Maps and parses the file at `path`.
Result<WeightFile> open_safetensors(const std::string& path);

}  // namespace rapt
