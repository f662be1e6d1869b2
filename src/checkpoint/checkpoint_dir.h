#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/block_type.h"
#include "checkpoint/gguf_metadata.h"
#include "checkpoint/tensor_info.h"
#include "checkpoint/weight_file.h"

namespace rapt {

struct WeightFileList;

// A model on disk: its weight files, mapped and checked against each other, and the way to its
// companion files. Knows where tensors lie, not what they mean. Owned by the WeightLoader.
//
// The weights of a folder are, in this order of preference: what `model.safetensors.index.json`
// names; the one `model.safetensors`; all files ending in .safetensors; the one GGUF model, which
// may lie in several parts (NAME-00001-of-00003.gguf and so on); the same of a subfolder
// `original`. In place of a folder, a GGUF file may be given, or any part of one.
class CheckpointDir {
 public:
  // How the tensors are named: "model.layers.0...", "block.0..." or "blk.0...".
  enum class Layout { kHuggingFace, kOriginal, kGguf };

  // `block_types` are those that GGUF files may use beside plain element types; they must outlive
  // the checkpoint. Tensors of other types are listed, but cannot be taken.
  static Result<CheckpointDir> open(
      const std::string& path, std::span<const BlockType> block_types = {}
  );

  const std::string& path() const { return path_; }  // as it was given

  // It, or its `original`; the GGUF file when there is one.
  const std::string& weights_path() const { return weights_path_; }

  Layout layout() const { return layout_; }

  const std::vector<WeightFile>& files() const { return files_; }

  // nullptr when there is no such tensor.
  const TensorInfo* find(std::string_view name) const;
  // The file that holds the tensor `info`, which find() returned.
  const std::string& file_of(const TensorInfo& info) const;

  std::int64_t num_tensors() const { return static_cast<std::int64_t>(places_.size()); }

  std::int64_t num_tensor_bytes() const;

  // What a GGUF file says of the model and its tokenizer, in place of the companion files that the
  // other layouts have; nullptr for those. Of a model in several parts, the first part's.
  const GgufMetadata* gguf() const { return gguf_ ? &*gguf_ : nullptr; }

  // The path of a companion file ("tokenizer.json"), looked for beside the weights and then in the
  // folder that was given.
  std::optional<std::string> find_companion(std::string_view file_name) const;
  // config.json, which every layout but GGUF has.
  Result<json::value> read_config() const;

 private:
  struct Place {
    std::size_t file_idx = 0;
    std::size_t tensor_idx = 0;
  };

  CheckpointDir(std::string path, std::string weights_path);

  Result<void> add_file(WeightFile file);
  Result<void> add_gguf_files(
      const std::vector<std::string>& paths, std::span<const BlockType> block_types
  );
  Result<void> check_index(const WeightFileList& list) const;

  std::string path_;
  std::string weights_path_;
  Layout layout_ = Layout::kHuggingFace;
  std::vector<WeightFile> files_;
  std::optional<GgufMetadata> gguf_;
  // Keyed by views of the names that `files_` owns.
  std::unordered_map<std::string_view, Place> places_;
};

}  // namespace rapt
