#include "checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

// Closes the descriptor at the end of open(): a mapping outlives it.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Non-blocking, so that a named pipe is refused below instead of waited for.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));

  struct stat status {};

  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) {
    return path_error(path, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    return bad_file(path + " is a folder; expected a file");
  }
  if (!S_ISREG(status.st_mode)) {
    return bad_file(path + " is not a regular file");
  }
  if (status.st_size == 0) {
    return bad_file(path + " is empty");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (address == MAP_FAILED) {
    return path_error(path, errno);
  }
  return MappedFile(path, {static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

void MappedFile::prefetch() const {
  // Advice: whether the system follows it changes only how long the first reads take.
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_WILLNEED);
}

}  // namespace rapt
