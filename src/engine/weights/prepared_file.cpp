#include "engine/weights/prepared_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "base/log.h"

namespace rapt {

namespace {

constexpr std::string_view kMagic = "RAPTPREP";
constexpr std::string_view kSuffix = ".prepared";
constexpr std::uint64_t kAlignment = 4096;
// Enough of a weight file to tell it from another of the same size and time: its table of tensors.
constexpr std::size_t kHashedBytes = std::size_t{1} << 20;

std::uint64_t aligned(std::uint64_t num_bytes) {
  return (num_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// FNV-1a.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return hash;
}

std::uint64_t hash_of(std::string_view text) {
  return hash_of(std::as_bytes(std::span(text)));
}

std::string hex_of(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

Error io_error(const std::string& what, const std::string& path, int code) {
  return bad_file("cannot " + what + " " + path + ": " + std::strerror(code));
}

Result<json::object> describe_file(const WeightFile& file) {
  struct stat status {};

  if (::stat(file.path().c_str(), &status) != 0) {
    return io_error("look at", file.path(), errno);
  }
  const std::span<const std::byte> bytes = file.bytes();
  return json::object{
      {"path", file.path()},
      {"size", static_cast<std::int64_t>(status.st_size)},
      {"changed",
       std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec)},
      {"hash", hex_of(hash_of(bytes.first(std::min(bytes.size(), kHashedBytes))))},
  };
}

// One piece of each part, another one for each, against what the checkpoint gives.
Result<void> check_pieces(const MappedFile& file, const PreparedLayout& layout) {
  std::vector<std::byte> expected;
  for (const PreparedPart& part : layout.parts) {
    const auto num_pieces = static_cast<std::uint64_t>(part.method->num_prepared_pieces());
    const auto piece_bytes = static_cast<std::uint64_t>(part.method->prepared_piece_bytes());
    const std::uint64_t piece = hash_of(part.name) % num_pieces;
    expected.resize(piece_bytes);
    part.method->write_prepared(static_cast<std::int64_t>(piece), expected.data());
    const std::byte* stored = file.bytes().data() + part.offset + piece * piece_bytes;
    if (std::memcmp(stored, expected.data(), piece_bytes) != 0) {
      return bad_file(file.path() + " is damaged: " + part.name + " is not the checkpoint's");
    }
  }
  return {};
}

// The header's "model" of some prepared file, or "".
std::string model_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kAlignment, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (!start.starts_with(kMagic)) {
    return "";
  }
  const std::size_t begin = kMagic.size();
  return start.substr(begin, start.find('\n', begin) - begin);
}

void remove_earlier_states(const std::string& folder, const PreparedLayout& layout) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (path.ends_with(kSuffix) && entry.path().filename() != layout.file_name &&
        model_of(path) == layout.model) {
      LOG_INFO("removing the prepared copy of an earlier state", kv("file", path));
      std::filesystem::remove(entry.path(), error);
    }
  }
}

}  // namespace

Result<PreparedLayout> plan_prepared(
    const CheckpointDir& checkpoint, const std::vector<ModelLinear>& linears
) {
  PreparedLayout layout;
  std::error_code error;
  layout.model = std::filesystem::absolute(checkpoint.path(), error).string();
  json::array files;
  for (const WeightFile& file : checkpoint.files()) {
    ASSIGN_OR_RETURN(json::object description, describe_file(file));
    files.push_back(std::move(description));
  }
  json::array parts;
  std::uint64_t offset = 0;  // behind the header
  for (const ModelLinear& linear : linears) {
    if (linear.method->num_prepared_pieces() == 0) {
      continue;
    }
    layout.parts.push_back(PreparedPart{linear.name, linear.method, offset});
    parts.push_back(
        {{"name", linear.name},
         {"format", std::string(linear.method->format())},
         {"pieces", linear.method->num_prepared_pieces()},
         {"piece_bytes", linear.method->prepared_piece_bytes()}}
    );
    offset += aligned(layout.parts.back().num_bytes());
  }
  const json::value description = {
      {"format", kPreparedFormat}, {"files", std::move(files)}, {"parts", std::move(parts)}};
  layout.header = std::string(kMagic) + layout.model + "\n" + to_json_text(description);
  layout.file_name = hex_of(hash_of(layout.header)) + std::string(kSuffix);
  layout.header.resize(aligned(layout.header.size()), '\n');
  for (PreparedPart& part : layout.parts) {
    part.offset += layout.header.size();
  }
  layout.num_bytes = layout.header.size() + offset;
  return layout;
}

Result<std::optional<MappedFile>> open_prepared(
    const std::string& folder, const PreparedLayout& layout
) {
  const std::string path = folder + "/" + layout.file_name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return std::optional<MappedFile>();
  }
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  if (file.bytes().size() != layout.num_bytes) {
    return bad_file(
        path + " is damaged: it has " + std::to_string(file.bytes().size()) + " bytes instead of " +
        std::to_string(layout.num_bytes)
    );
  }
  if (std::memcmp(file.bytes().data(), layout.header.data(), layout.header.size()) != 0) {
    return bad_file(path + " is damaged: its header is not what its name says");
  }
  RETURN_IF_ERROR(check_pieces(file, layout));
  return std::optional<MappedFile>(std::move(file));
}

PreparedWriter::PreparedWriter(
    std::string folder, const PreparedLayout& layout, std::string path, int fd
)
    : folder_(std::move(folder)), layout_(&layout), path_(std::move(path)), fd_(fd) {}

PreparedWriter::PreparedWriter(PreparedWriter&& other) noexcept
    : folder_(std::move(other.folder_)),
      layout_(other.layout_),
      path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      is_finished_(other.is_finished_) {}

PreparedWriter::~PreparedWriter() {
  if (fd_ < 0) {
    return;
  }
  if (!is_finished_) {
    ::unlink(path_.c_str());
  }
  ::close(fd_);
}

Result<PreparedWriter> PreparedWriter::create(
    const std::string& folder, const PreparedLayout& layout
) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return bad_file("cannot make the folder " + folder + ": " + error.message());
  }
  const std::string path = folder + "/" + layout.file_name + ".part";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    return io_error("write", path, errno);
  }
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return Error{ErrorCode::kUnavailable, "another process is writing " + path};
  }
  PreparedWriter writer(folder, layout, path, fd);
  remove_earlier_states(folder, layout);
  RETURN_IF_ERROR(writer.reserve());
  return writer;
}

// All the space now, rather than an error in the middle.
Result<void> PreparedWriter::reserve() {
  const auto size = static_cast<off_t>(layout_->num_bytes);
  int code = ::posix_fallocate(fd_, 0, size);
  if (code == EOPNOTSUPP || code == EINVAL) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(folder_, error);
    code = !error && space.available < layout_->num_bytes ? ENOSPC
           : ::ftruncate(fd_, size) != 0                  ? errno
                                                          : 0;
  }
  if (code != 0) {
    return bad_file(
        "cannot reserve " + std::to_string(layout_->num_bytes) + " bytes for " + path_ + ": " +
        std::strerror(code)
    );
  }
  return {};
}

Result<void> PreparedWriter::write(std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return io_error("write", path_, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> PreparedWriter::sync() {
  if (::fdatasync(fd_) != 0) {
    return io_error("bring to disk", path_, errno);
  }
  return {};
}

Result<void> PreparedWriter::finish() {
  RETURN_IF_ERROR(write(std::as_bytes(std::span(layout_->header)), 0));
  if (::fsync(fd_) != 0) {
    return io_error("bring to disk", path_, errno);
  }
  const std::string final_path = folder_ + "/" + layout_->file_name;
  if (::rename(path_.c_str(), final_path.c_str()) != 0) {
    return io_error("rename", path_, errno);
  }
  is_finished_ = true;
  // The name too must survive a power cut.
  const int folder_fd = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd >= 0) {
    ::fsync(folder_fd);
    ::close(folder_fd);
  }
  return {};
}

}  // namespace rapt
