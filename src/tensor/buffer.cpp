#include "tensor/buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace rapt {

void Buffer::Unmap::operator()(void* data) const {
  munmap(data, num_bytes);
}

Result<Buffer> Buffer::allocate(std::uint64_t num_bytes, const char* what) {
  Buffer buffer;
  if (num_bytes == 0) {
    return buffer;
  }
  void* data = mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return invalid_argument(
        std::string("cannot get ") + std::to_string(num_bytes) + " bytes of memory for " + what +
        ": " + std::strerror(errno)
    );
  }
  constexpr std::uint64_t kWorthHugePages = std::uint64_t{4} << 20;
  if (num_bytes >= kWorthHugePages) {
    madvise(data, num_bytes, MADV_HUGEPAGE);
  }
  buffer.data_ = std::unique_ptr<void, Unmap>(data, Unmap{num_bytes});
  buffer.num_bytes_ = num_bytes;
  return buffer;
}

}  // namespace rapt
