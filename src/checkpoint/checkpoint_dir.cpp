#include "checkpoint/checkpoint_dir.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "checkpoint/gguf.h"
#include "checkpoint/gguf_files_internal.h"
#include "checkpoint/message_text_internal.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/text_file.h"
#include "checkpoint/weight_files_internal.h"

namespace rapt {

namespace fs = std::filesystem;

namespace {

// OpenAI's own files name the parts of the model differently from Hugging Face's.
bool has_original_names(const std::vector<WeightFile>& files) {
  for (const WeightFile& file : files) {
    for (const TensorInfo& info : file.tensors()) {
      if (info.name.starts_with("model.")) {
        return false;
      }
      if (info.name.starts_with("block.") || info.name == "embedding.weight") {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

CheckpointDir::CheckpointDir(std::string path, std::string weights_path)
    : path_(std::move(path)), weights_path_(std::move(weights_path)) {}

Result<CheckpointDir> CheckpointDir::open(
    const std::string& path, std::span<const BlockType> block_types
) {
  ASSIGN_OR_RETURN(const WeightFileList list, list_weight_files(path));
  std::vector<std::string> paths;
  for (const std::string& name : list.files) {
    paths.push_back(list.path_of(name));
  }
  CheckpointDir checkpoint(path, list.is_gguf ? paths.front() : list.folder);
  if (list.is_gguf) {
    RETURN_IF_ERROR(checkpoint.add_gguf_files(paths, block_types));
  } else {
    for (const std::string& file_path : paths) {
      ASSIGN_OR_RETURN(WeightFile file, open_safetensors(file_path));
      RETURN_IF_ERROR(checkpoint.add_file(std::move(file)));
    }
  }
  if (checkpoint.places_.empty()) {
    return bad_file(
        path + (list.is_gguf ? " holds no tensor" : " holds weight files, but no tensor in them")
    );
  }
  RETURN_IF_ERROR(checkpoint.check_index(list));
  if (list.is_gguf) {
    checkpoint.layout_ = Layout::kGguf;
  } else if (has_original_names(checkpoint.files_)) {
    checkpoint.layout_ = Layout::kOriginal;
  }
  return checkpoint;
}

// Holds what the index says against what the files hold.
Result<void> CheckpointDir::check_index(const WeightFileList& list) const {
  if (list.index.empty()) {
    return {};
  }
  for (const auto& [tensor, file_name] : list.index) {
    const TensorInfo* info = find(tensor);
    const std::string expected = list.path_of(file_name);
    if (info == nullptr) {
      return bad_file(
          expected + " has no tensor " + in_quotes(tensor) + ", which " + kIndexFileName +
          " says it holds"
      );
    }
    if (file_of(*info) != expected) {
      return bad_file(
          "tensor " + in_quotes(tensor) + " lies in " + file_of(*info) + "; " + kIndexFileName +
          " says it is in " + file_name
      );
    }
  }
  for (const auto& [tensor, place] : places_) {
    if (!list.index.contains(std::string(tensor))) {
      return bad_file(
          files_[place.file_idx].path() + " holds tensor " + in_quotes(tensor) + ", which " +
          kIndexFileName + " does not name"
      );
    }
  }
  return {};
}

Result<void> CheckpointDir::add_gguf_files(
    const std::vector<std::string>& paths, std::span<const BlockType> block_types
) {
  for (std::size_t file_idx = 0; file_idx < paths.size(); ++file_idx) {
    ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(paths[file_idx]));
    ASSIGN_OR_RETURN(GgufContents contents, parse_gguf(file.bytes(), paths[file_idx], block_types));
    RETURN_IF_ERROR(check_gguf_part(contents.metadata, file_idx, paths.size()));
    RETURN_IF_ERROR(add_file(WeightFile(std::move(file), std::move(contents.tensors))));
    if (file_idx == 0) {
      gguf_ = std::move(contents.metadata);
    }
  }
  return check_gguf_total(*gguf_, num_tensors());
}

Result<void> CheckpointDir::add_file(WeightFile file) {
  // Moving a WeightFile moves its vector of tensors, not the tensors: the views of their
  // names that key `places_` stay valid.
  const std::size_t file_idx = files_.size();
  files_.push_back(std::move(file));
  const WeightFile& added = files_.back();
  for (std::size_t tensor_idx = 0; tensor_idx < added.tensors().size(); ++tensor_idx) {
    const std::string_view name = added.tensors()[tensor_idx].name;
    const auto [place, is_new] = places_.try_emplace(name, Place{file_idx, tensor_idx});
    if (!is_new) {
      return bad_file(
          "tensor " + in_quotes(name) + " lies both in " + files_[place->second.file_idx].path() +
          " and in " + added.path()
      );
    }
  }
  return {};
}

const TensorInfo* CheckpointDir::find(std::string_view name) const {
  const auto place = places_.find(name);
  if (place == places_.end()) {
    return nullptr;
  }
  return &files_[place->second.file_idx].tensors()[place->second.tensor_idx];
}

const std::string& CheckpointDir::file_of(const TensorInfo& info) const {
  const auto place = places_.find(info.name);
  CHECK(place != places_.end(), "tensor of another checkpoint: ", info.name);
  return files_[place->second.file_idx].path();
}

std::int64_t CheckpointDir::num_tensor_bytes() const {
  std::int64_t bytes = 0;
  for (const WeightFile& file : files_) {
    for (const TensorInfo& info : file.tensors()) {
      bytes += info.num_bytes;
    }
  }
  return bytes;
}

std::optional<std::string> CheckpointDir::find_companion(std::string_view file_name) const {
  if (gguf_) {
    return std::nullopt;
  }
  for (const std::string& folder : {weights_path_, path_}) {
    std::string candidate = folder + "/" + std::string(file_name);
    std::error_code status;
    if (fs::exists(fs::symlink_status(candidate, status))) {
      return candidate;
    }
  }
  return std::nullopt;
}

Result<json::value> CheckpointDir::read_config() const {
  const std::optional<std::string> file = find_companion("config.json");
  return read_json_file(file ? *file : weights_path_ + "/config.json");
}

}  // namespace rapt
