#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rapt {

inline constexpr char kIndexFileName[] = "model.safetensors.index.json";

// Which files of a folder make up the weights.
struct WeightFileList {
  std::string folder;                        // the one that was given, its `original`, or a file's
  std::vector<std::string> files;            // plain names of existing files, each once
  std::map<std::string, std::string> index;  // tensor to file name; empty when there is no index
  bool is_gguf = false;

  // One of `files`, to be opened.
  std::string path_of(const std::string& file) const;
};

// Chooses them as CheckpointDir promises; `path` is a folder or a GGUF file. When there are none,
// the error says what is there instead.
Result<WeightFileList> list_weight_files(const std::string& path);

// Whether the folder, or its `original`, holds anything that list_weight_files would look at.
bool has_weight_files(const std::string& folder);

}  // namespace rapt
