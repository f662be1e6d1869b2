#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/gguf_metadata.h"

namespace rapt {

// A large GGUF model lies in several files, NAME-00001-of-00003.gguf and so on. The first holds the
// metadata, and each says which part of how many it is.

inline constexpr std::string_view kGgufSuffix = ".gguf";

// Whether a file is called like one of several.
bool is_gguf_part(std::string_view file_name);

// All the parts of the model that `file_name` is one of, in order; each must be among `names`,
// which its folder holds. `what` names the model in errors.
Result<std::vector<std::string>> gguf_parts(
    std::string_view file_name, const std::vector<std::string>& names, const std::string& what
);

// The files of the one GGUF model in a folder that holds `names`; an error when there are several.
Result<std::vector<std::string>> choose_gguf_files(
    const std::vector<std::string>& names, const std::string& folder
);

// Whether a file's metadata agree that it is part `part_idx` (from 0) of `num_parts`.
Result<void> check_gguf_part(
    const GgufMetadata& metadata, std::size_t part_idx, std::size_t num_parts
);

// Whether the first part's metadata agree that all parts together hold `num_tensors`.
Result<void> check_gguf_total(const GgufMetadata& first, std::int64_t num_tensors);

}  // namespace rapt
