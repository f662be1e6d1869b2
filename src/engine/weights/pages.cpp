#include "engine/weights/pages.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace rapt {

namespace {

struct PageRange {
  void* address = nullptr;
  std::size_t num_bytes = 0;
};

// The whole pages within `bytes`, or all that it touches.
PageRange pages_of(std::span<const std::byte> bytes, bool only_whole) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGE_SIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t end = begin + bytes.size();
  const std::uintptr_t first = (only_whole ? begin + page - 1 : begin) / page * page;
  const std::uintptr_t last = (only_whole ? end : end + page - 1) / page * page;
  return {reinterpret_cast<void*>(first), last > first ? last - first : 0};
}

}  // namespace

void drop_pages(std::span<const std::byte> bytes) {
  const PageRange range = pages_of(bytes, true);
  if (range.num_bytes == 0) {
    return;
  }
  ::munlock(range.address, range.num_bytes);
  // From the page cache too; where the system does not know how, from this process at least.
  if (::madvise(range.address, range.num_bytes, MADV_PAGEOUT) != 0) {
    ::madvise(range.address, range.num_bytes, MADV_DONTNEED);
  }
}

void read_pages(std::span<const std::byte> bytes) {
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ of Linux 5.14, younger than our C library
  const PageRange range = pages_of(bytes, false);
  if (range.num_bytes > 0) {
    ::madvise(range.address, range.num_bytes, kPopulateRead);
  }
}

Result<void> lock_mapped_memory() {
  if (::mlockall(MCL_CURRENT | MCL_ONFAULT) == 0) {
    return {};
  }
  const int code = errno;
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  return invalid_argument(
      std::string("--mlock: the system refuses to lock this process's memory (") +
      std::strerror(code) + "); it may lock " + std::to_string(limit.rlim_cur) +
      " bytes (ulimit -l): raise that above the size of the model, or leave --mlock out"
  );
}

namespace {

void be_nice(int nice) {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), nice);
}

}  // namespace

void lower_thread_priority() {
  constexpr int kQuarter = 5;  // a third of the weight of a thread of priority 0
  be_nice(kQuarter);
}

void lower_thread_priority_most() {
  constexpr int kLeastNice = 19;
  be_nice(kLeastNice);
  constexpr int kThisThread = 1;       // IOPRIO_WHO_PROCESS
  constexpr int kIdleClass = 3 << 13;  // IOPRIO_CLASS_IDLE
  ::syscall(SYS_ioprio_set, kThisThread, 0, kIdleClass);
}

}  // namespace rapt
