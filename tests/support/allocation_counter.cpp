#include "support/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> num_calls{0};

}  // namespace

namespace rapt {

std::uint64_t num_allocations() {
  return num_calls.load();
}

}  // namespace rapt

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++num_calls;
  return std::malloc(size == 0 ? 1 : size);
}

void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) {
    std::abort();
  }
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
