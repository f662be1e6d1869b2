#include "support/checkpoint_files.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/json.h"

namespace rapt::testing {

namespace fs = std::filesystem;

std::string safetensors_bytes(std::string_view header, std::string_view data) {
  std::string out;
  for (int idx = 0; idx < 8; ++idx) {
    out += static_cast<char>((std::uint64_t{header.size()} >> (8 * idx)) & 0xFFU);
  }
  out += header;
  out += data;
  return out;
}

std::string safetensors_bytes(const std::vector<WrittenTensor>& tensors) {
  std::string header = "{";
  std::string data;
  for (const WrittenTensor& tensor : tensors) {
    header += header.size() > 1 ? "," : "";
    append_json_string(header, tensor.name);
    header += R"(:{"dtype":")" + tensor.dtype + R"(","shape":[)";
    for (std::size_t dim = 0; dim < tensor.dims.size(); ++dim) {
      header += (dim == 0 ? "" : ",") + std::to_string(tensor.dims[dim]);
    }
    header += R"(],"data_offsets":[)" + std::to_string(data.size()) + ",";
    data += tensor.data;
    header += std::to_string(data.size()) + "]}";
  }
  header += "}";
  // As the official writer does: the data begin at a multiple of 8.
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return safetensors_bytes(header, data);
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  CHECK(file.good(), "cannot write ", path);
}

TempFolder::TempFolder() {
  path_ = (fs::temp_directory_path() / "rapt_checkpoint_XXXXXX").string();
  CHECK(::mkdtemp(path_.data()) != nullptr, path_);
}

TempFolder::~TempFolder() {
  std::error_code status;
  fs::remove_all(path_, status);
}

std::string TempFolder::write(const std::string& name, std::string_view bytes) const {
  const std::string path = path_ + "/" + name;
  fs::create_directories(fs::path(path).parent_path());
  write_file(path, bytes);
  return path;
}

std::string TempFolder::make_folder(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  fs::create_directories(path);
  return path;
}

}  // namespace rapt::testing
