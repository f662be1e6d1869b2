#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "checkpoint/gguf_files_internal.h"
#include "checkpoint/json_keys_internal.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/message_text_internal.h"
#include "checkpoint/text_file.h"
#include "checkpoint/weight_files_internal.h"

namespace rapt {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSingleFileName = "model.safetensors";
constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kOriginalFolder = "original";

// The names in a folder, sorted; without those that begin with a dot, which other tools leave.
Result<std::vector<std::string>> list_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code status;
  fs::directory_iterator entry(folder, status);
  while (!status && entry != fs::directory_iterator()) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with('.')) {
      names.push_back(std::move(name));
    }
    entry.increment(status);
  }
  if (status) {
    return path_error(folder, status.value());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::string* find_suffix(const std::vector<std::string>& names, std::string_view suffix) {
  const auto name = std::find_if(names.begin(), names.end(), [&](const std::string& candidate) {
    return candidate.ends_with(suffix);
  });
  return name == names.end() ? nullptr : &*name;
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

bool is_folder(const std::string& path) {
  std::error_code status;
  return fs::is_directory(path, status);
}

// An index may name files beside it only: a path in it could point anywhere on the machine.
bool is_plain_file_name(std::string_view name) {
  const bool has_bad_character = std::any_of(name.begin(), name.end(), [](char c) {
    return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  });
  return !has_bad_character && name.ends_with(kSuffix) && name.size() > kSuffix.size();
}

Result<std::map<std::string, std::string>> read_index(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_text_file(path));
  const Result<json::value> parsed = parse_json(text, path);
  if (!parsed) {
    return as_bad_file(parsed.error());
  }
  if (const auto key = find_duplicate_key(text)) {
    return bad_file(path + " names " + in_quotes(*key) + " twice");
  }
  const json::value* weight_map =
      parsed->is_object() ? parsed->get_object().if_contains("weight_map") : nullptr;
  if (weight_map == nullptr || !weight_map->is_object()) {
    return bad_file(
        path + " has no \"weight_map\", the object that says which file holds a tensor"
    );
  }
  std::map<std::string, std::string> index;
  for (const auto& member : weight_map->get_object()) {
    const std::string where = path + ": \"weight_map\" gives " + shown_json(member.value()) +
                              " for tensor " + in_quotes(member.key());
    if (!member.value().is_string()) {
      return bad_file(where + "; expected the name of a file");
    }
    const std::string_view file_name = member.value().get_string();
    if (!is_plain_file_name(file_name)) {
      return bad_file(
          where + "; expected the plain name of a .safetensors file in the same folder"
      );
    }
    index.emplace(member.key(), file_name);
  }
  if (index.empty()) {
    return bad_file(path + " names no tensor: its \"weight_map\" is empty");
  }
  return index;
}

Result<WeightFileList> list_indexed(
    const std::string& folder, const std::vector<std::string>& names
) {
  WeightFileList list{.folder = folder, .files = {}, .index = {}, .is_gguf = false};
  ASSIGN_OR_RETURN(list.index, read_index(folder + "/" + kIndexFileName));
  std::set<std::string> shards;
  for (const auto& [tensor, file_name] : list.index) {
    shards.insert(file_name);
  }
  std::size_t num_missing = 0;
  const std::string* first_missing = nullptr;
  for (const std::string& shard : shards) {
    if (!contains(names, shard)) {
      ++num_missing;
      first_missing = first_missing == nullptr ? &shard : first_missing;
    }
  }
  if (num_missing > 0) {
    return bad_file(
        folder + " lacks " + in_quotes(*first_missing) +
        (num_missing > 1 ? " and " + std::to_string(num_missing - 1) + " more" : "") + " of the " +
        std::to_string(shards.size()) + " weight files that " + kIndexFileName +
        " names: the download is not complete"
    );
  }
  list.files.assign(shards.begin(), shards.end());
  return list;
}

// Empty when the folder holds no weights.
Result<WeightFileList> list_in_folder(
    const std::string& folder, const std::vector<std::string>& names
) {
  if (contains(names, kIndexFileName)) {
    return list_indexed(folder, names);
  }
  WeightFileList list{.folder = folder, .files = {}, .index = {}, .is_gguf = false};
  if (contains(names, kSingleFileName)) {
    list.files.emplace_back(kSingleFileName);
    return list;
  }
  for (const std::string& name : names) {
    if (name.ends_with(kSuffix)) {
      list.files.push_back(name);
    }
  }
  if (list.files.empty() && find_suffix(names, kGgufSuffix) != nullptr) {
    ASSIGN_OR_RETURN(list.files, choose_gguf_files(names, folder));
    list.is_gguf = true;
  }
  return list;
}

// Why `path`, which is a file, is not what was asked for.
Error not_a_model(const std::string& path) {
  return bad_file(
      path +
      " is a file, and not a GGUF one; give a .gguf file, or the folder that holds "
      "config.json and the .safetensors files"
  );
}

bool is_gguf_file(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) {
    return path.ends_with(kGgufSuffix);
  }
  const std::span<const std::byte> bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return path.ends_with(kGgufSuffix) || text.starts_with("GGUF");
}

// The model in the GGUF file `path`, with the other parts if it is one of several.
Result<WeightFileList> list_gguf_file(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
  WeightFileList list{
      .folder = path.substr(0, name_begin == 0 ? 0 : std::max<std::size_t>(slash, 1)),
      .files = {path.substr(name_begin)},
      .index = {},
      .is_gguf = true};
  if (is_gguf_part(list.files.front())) {
    ASSIGN_OR_RETURN(
        const std::vector<std::string> names, list_folder(list.folder.empty() ? "." : list.folder)
    );
    ASSIGN_OR_RETURN(list.files, gguf_parts(list.files.front(), names, path));
  }
  return list;
}

Error no_weights(const std::string& path, const std::vector<std::string>& names) {
  const std::string expected = "; expected " + std::string(kIndexFileName) + ", " +
                               std::string(kSingleFileName) +
                               ", other .safetensors files, or a .gguf file";
  if (names.empty()) {
    return bad_file(path + " is an empty folder" + expected);
  }
  for (const std::string_view suffix : {".bin", ".pt", ".pth"}) {
    if (const std::string* pickle = find_suffix(names, suffix)) {
      return bad_file(
          path + " holds its weights in PyTorch's own format (" + *pickle +
          "), which is not supported" + expected
      );
    }
  }
  return bad_file(path + " holds no weights" + expected);
}

}  // namespace

std::string WeightFileList::path_of(const std::string& file) const {
  if (folder.empty()) {
    return file;
  }
  return folder == "/" ? folder + file : folder + "/" + file;
}

Result<WeightFileList> list_weight_files(const std::string& path_as_given) {
  const std::string path = without_trailing_slashes(path_as_given);
  std::error_code status;
  const fs::file_status found = fs::status(path, status);
  if (found.type() == fs::file_type::not_found) {
    return not_found(path + " does not exist; give a folder with a model, or a .gguf file");
  }
  if (status) {
    return path_error(path, status.value());
  }
  if (!fs::is_directory(found)) {
    return is_gguf_file(path) ? list_gguf_file(path) : not_a_model(path);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, list_folder(path));
  ASSIGN_OR_RETURN(WeightFileList list, list_in_folder(path, names));
  const std::string original = path + "/" + std::string(kOriginalFolder);
  if (list.files.empty() && is_folder(original)) {
    ASSIGN_OR_RETURN(const std::vector<std::string> original_names, list_folder(original));
    ASSIGN_OR_RETURN(list, list_in_folder(original, original_names));
  }
  if (list.files.empty()) {
    return no_weights(path, names);
  }
  return list;
}

bool has_weight_files(const std::string& folder) {
  for (const std::string& candidate : {folder, folder + "/" + std::string(kOriginalFolder)}) {
    const Result<std::vector<std::string>> names = list_folder(candidate);
    if (names && (contains(*names, kIndexFileName) || find_suffix(*names, kSuffix) != nullptr ||
                  find_suffix(*names, kGgufSuffix) != nullptr)) {
      return true;
    }
  }
  return false;
}

}  // namespace rapt
